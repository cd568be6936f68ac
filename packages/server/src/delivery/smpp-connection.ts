import { connect, PDU, type Pdu, type Session } from "smpp";
import type { SmppConfig } from "../config/delivery-config.ts";

/** One connection to an SMSC, bound to send and to receive. */
export interface SmppConnection {
  /** Asks and waits for the answer, whatever its status; rejects when the connection ends or the signal is aborted. */
  ask(command: string, fields: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<Pdu>;
  /** Resolves when it has ended, with the reason. */
  readonly ended: Promise<Error>;
  close(): Promise<void>;
}

/** The SMSC does not want us: asking again at once would only make it angry. */
export class BindRefused extends Error {
  override readonly name = "BindRefused";
}

const version34 = 0x34;
const patienceMs = 5000;
/** What SMPP wants an answer to. `unknown` is whatever the package cannot read. */
const answerable = new Set(["deliver_sm", "data_sm", "enquire_link", "unbind", "unknown"]);
const noSignal = new AbortController().signal;

export async function openSmppConnection(
  config: SmppConfig,
  signal: AbortSignal,
  onDeliver: (pdu: Pdu) => void,
): Promise<SmppConnection> {
  const { host, port, tls, ca } = config;
  const session = connect({
    host,
    port,
    ...(tls && { tls: true, servername: host, minVersion: "TLSv1.2", ...(ca !== null && { ca }) }),
  });
  // Small packets, each of which somebody waits for: none may linger until the one before is acknowledged.
  session.socket.setNoDelay(true);
  const connection = wrap(config, session, onDeliver);
  const cutOff = () => session.destroy();
  signal.addEventListener("abort", cutOff, { once: true });
  try {
    signal.throwIfAborted();
    await connected(session, tls, connection.ended);
    const { systemId, password, systemType } = config;
    const answer = await connection.ask(
      "bind_transceiver",
      { system_id: systemId, password, system_type: systemType, interface_version: version34 },
      signal,
    );
    if (answer.command_status !== 0) {
      throw new BindRefused(`${config.name} refuses to be bound: status ${statusText(answer)}.`);
    }
    return connection;
  } catch (error) {
    session.destroy();
    throw error;
  } finally {
    signal.removeEventListener("abort", cutOff);
  }
}

export const statusText = ({ command_status }: Pdu) => `0x${command_status.toString(16).padStart(4, "0")}`;

async function connected(session: Session, tls: boolean, ended: Promise<Error>): Promise<void> {
  const reached = new Promise<null>((resolve) => session.once(tls ? "secureConnect" : "connect", () => resolve(null)));
  const failure = await Promise.race([reached, ended]);
  if (failure) throw failure;
}

function wrap(config: SmppConfig, session: Session, onDeliver: (pdu: Pdu) => void): SmppConnection {
  const waiting = new Set<(error: Error) => void>();
  const { promise: ended, resolve: tellEnd } = Promise.withResolvers<Error>();
  let over: Error | null = null;
  let heardAt = performance.now();

  function end(error: Error): void {
    if (over) return;
    over = error;
    clearInterval(keepAlive);
    session.destroy();
    for (const fail of waiting) fail(error);
    waiting.clear();
    tellEnd(error);
  }

  function ask(command: string, fields: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<Pdu> {
    return new Promise<Pdu>((resolve, reject) => {
      if (over || signal.aborted) return reject(over ?? (signal.reason as Error));
      const fail = (error: Error) => {
        waiting.delete(fail);
        signal.removeEventListener("abort", abort);
        reject(error);
      };
      const abort = () => {
        fail(signal.reason as Error);
        // No answer in time: is anyone there at all?
        probe();
      };
      const answered = (answer: Pdu) => {
        waiting.delete(fail);
        signal.removeEventListener("abort", abort);
        resolve(answer);
      };
      waiting.add(fail);
      signal.addEventListener("abort", abort, { once: true });
      const sent = session.send(new PDU(command, fields), answered);
      if (!sent) end(new Error(`The connection to ${config.name} is closed.`));
    });
  }

  function probe(): void {
    if (over) return;
    const patience = Math.min(config.enquireMs, patienceMs);
    const tooLong = setTimeout(() => end(new Error(`${config.name} does not answer any more.`)), patience);
    tooLong.unref();
    ask("enquire_link", {}, noSignal)
      // When it ends meanwhile, whoever waits for something is told.
      .catch(() => {})
      .finally(() => clearTimeout(tooLong));
  }

  const keepAlive = setInterval(
    () => {
      if (performance.now() - heardAt >= config.enquireMs) probe();
    },
    Math.max(100, config.enquireMs / 4),
  );
  keepAlive.unref();

  session.on("error", (error: NodeJS.ErrnoException) => {
    end(new Error(`The connection to ${config.name} failed: ${error.code ?? error.message}.`));
  });
  session.on("close", () => end(new Error(`${config.name} hung up.`)));
  session.on("pdu", (pdu: Pdu) => {
    heardAt = performance.now();
    if (pdu.isResponse() || !answerable.has(pdu.command)) return;
    session.send(pdu.response());
    if (pdu.command === "unbind") end(new Error(`${config.name} unbound us.`));
    // Later, so that the answer to a message is dealt with before a receipt that came with it.
    if (pdu.command === "deliver_sm") setImmediate(onDeliver, pdu);
  });

  return {
    ask,
    ended,
    async close() {
      if (over) return;
      // Politely, but not for long.
      await ask("unbind", {}, AbortSignal.timeout(1000)).catch(() => {});
      end(new Error(`The connection to ${config.name} is closed.`));
    },
  };
}
