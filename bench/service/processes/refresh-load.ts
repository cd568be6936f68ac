import { answerTasks } from "../answer-tasks.ts";
import { Connection, headerOf, requestText } from "../connection.ts";
import { type DeviceKey, ProofSigner } from "../dpop-keys.ts";

const path = "/api/users/refresh";

export interface DeviceOrder {
  readonly refreshToken: string;
  /** The key the session is bound to; null for a plain one. */
  readonly key: DeviceKey | null;
}

/** A signed-in device that refreshes again and again. */
class Device {
  readonly #signer: ProofSigner | null;
  #refreshToken: string;
  #proofs: string[] = [];

  constructor({ refreshToken, key }: DeviceOrder, url: string) {
    this.#refreshToken = refreshToken;
    this.#signer = key && new ProofSigner(key, { htm: "POST", htu: `${url}${path}` });
  }

  /** Proofs are signed before the clock starts: the machine belongs to the server then. */
  prepare(count: number, nonce: string): void {
    const signer = this.#signer;
    this.#proofs = signer ? Array.from({ length: count }, () => signer.sign(nonce)) : [];
  }

  async refresh(connection: Connection, nonce: string): Promise<void> {
    const proof = this.#proofs.pop() ?? this.#signer?.sign(nonce);
    const body = JSON.stringify({ refreshToken: this.#refreshToken });
    const answer = await connection.send(requestText("POST", path, proof ? { DPoP: proof } : {}, body));
    if (answer.status !== 200) throw new Error(`refresh answered ${answer.status}: ${answer.body}`);
    this.#refreshToken = JSON.parse(answer.body).refreshToken;
  }
}

const groups = new Map<string, { readonly port: number; readonly devices: readonly Device[] }>();
const lastRun = new Map<string, number>();

const tasks = {
  prepare({ name, port, devices }: { name: string; port: number; devices: readonly DeviceOrder[] }): void {
    const url = `http://127.0.0.1:${port}`;
    groups.set(name, { port, devices: devices.map((device) => new Device(device, url)) });
  },

  async run({ name, seconds }: { name: string; seconds: number }) {
    const group = groups.get(name);
    if (!group) throw new Error(`There are no devices called ${name}.`);
    const nonce = await askNonce(group.port);
    const expected = lastRun.get(name) ?? 100 * seconds;
    for (const device of group.devices) device.prepare(Math.ceil((1.5 * expected) / group.devices.length), nonce);

    const connections = await Promise.all(group.devices.map(() => Connection.open(group.port)));

    let count = 0;
    const start = performance.now();
    const end = start + seconds * 1000;
    async function refreshOneAfterTheOther(device: Device, connection: Connection): Promise<void> {
      while (performance.now() < end) {
        await device.refresh(connection, nonce);
        count += 1;
      }
      connection.close();
    }
    await Promise.all(
      connections.map((connection, index) => refreshOneAfterTheOther(group.devices[index] as Device, connection)),
    );
    lastRun.set(name, count);
    return { count, perSecond: count / ((performance.now() - start) / 1000) };
  },
};

/** Every answer carries one. */
async function askNonce(port: number): Promise<string> {
  const connection = await Connection.open(port);
  const { head } = await connection.send(requestText("GET", "/healthz", {}));
  connection.close();
  return headerOf(head, "dpop-nonce") ?? "";
}

export type RefreshLoadTasks = typeof tasks;

answerTasks(tasks);
