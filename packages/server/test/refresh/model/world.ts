import { hash } from "node:crypto";
import { type Problem, routes, type Session } from "@fieldgate/contract";
import { expect } from "vitest";
import type { Answer, CallOptions } from "../../kit/api-client.ts";
import { DpopKey } from "../../kit/dpop-key.ts";
import { type Deployment, nodeAt, publicUrl } from "../../sessions/deployment.ts";
import { type Command, tabCounts } from "./commands.ts";
import { Device, type Errand } from "./device.ts";
import { counterOf, type Outcome, type Presented } from "./family-model.ts";

type RefreshAnswer = Answer<Session & Problem>;
type Send = Extract<Command, { do: "send" }>;

interface Request {
  readonly device: Device;
  readonly tab: number;
  readonly errand: Errand;
}

const htu = `${publicUrl}${routes.refresh.path}`;
const outcomeOf = ({ status, body }: RefreshAnswer): Outcome =>
  status === 200 ? { given: body.refreshToken } : { refused: body.code };

/** Two devices of one worker, two nodes, a network that loses and repeats, and someone who copies everything. */
export class World {
  readonly deployment: Deployment;
  readonly devices: readonly Device[];
  readonly attacker: DpopKey;
  nonce = "";

  private constructor(deployment: Deployment, devices: readonly Device[], attacker: DpopKey) {
    this.deployment = deployment;
    this.devices = devices;
    this.attacker = attacker;
  }

  static async begin(deployment: Deployment, username: string): Promise<World> {
    const devices = tabCounts.map(async (tabs) => new Device(await deployment.signIn({ username }), tabs));
    return new World(deployment, await Promise.all(devices), await DpopKey.create());
  }

  async run(command: Command): Promise<void> {
    switch (command.do) {
      case "read":
        return void this.#at(command.tab, (device, tab) => device.read(tab));
      case "send":
        return this.#send(command);
      case "settle":
        return void this.#at(command.tab, (device, tab) => device.settle(tab));
      case "close":
        return void this.#at(command.tab, (device, tab) => (device.tabs[tab] = null));
      case "refresh": {
        this.#at(command.tab, (device, tab) => device.read(tab));
        const alone = { tabs: [command.tab], copies: 1, heard: 0, loss: "nothing", logout: false } as const;
        await this.#send({ do: "send", node: command.node, ...alone });
        return void this.#at(command.tab, (device, tab) => device.settle(tab));
      }
      case "logout":
        return this.#at(command.tab, async (device) => {
          device.forget();
          if (command.loss === "request") return;
          await this.#logout(device, command.node, command.by);
          device.family.ended = true;
        });
      case "attack":
        return this.#attack(command);
      case "wait":
        return this.deployment.clock.advance(command.seconds);
      case "restart":
        await this.deployment.restart(nodeAt(this.deployment.nodes, command.node));
    }
  }

  /** The rows say what the model says. */
  async check(): Promise<void> {
    for (const { sid, family } of this.devices) {
      const row = await this.#row(sid);
      expect(row.counter).toBe(family.head);
      expect(row.head_hash).toBe(hash("sha256", family.headToken, "base64url"));
      expect(row.revoked_at !== null, "the session has ended").toBe(family.ended);
    }
  }

  /** Whoever is not logged out can go on; for whoever is, nothing works any more. */
  async conclude(): Promise<void> {
    for (const [index, device] of this.devices.entries()) {
      const { family, storage } = device;
      if (!family.ended && storage.refreshToken !== null) {
        const answer = await this.#present(device, storage.refreshToken, index);
        family.judge([{ counter: counterOf(storage.refreshToken), outcome: outcomeOf(answer) }]);
        expect(answer.status, "an honest client was logged out").toBe(200);
      } else if (!family.ended) {
        // The logout never arrived: it is sent again later, by the hash that was kept for it.
        await this.#logout(device, index, "hash");
        family.ended = true;
      }
      if (!family.ended) continue;
      for (const token of family.tokens.values()) {
        const answer = await this.#present(device, token, index);
        expect(outcomeOf(answer)).toEqual({ refused: "session_revoked" });
      }
    }
    await this.check();
  }

  #at<T>(index: number, work: (device: Device, tab: number) => T): T {
    const [first, second] = this.devices;
    if (!first || !second) throw new Error("There are two devices.");
    return index < tabCounts[0] ? work(first, index) : work(second, index - tabCounts[0]);
  }

  async #send(command: Send): Promise<void> {
    const requests: Request[] = [];
    for (const index of command.tabs) {
      this.#at(index, (device, tab) => {
        const errand = device.tabs[tab];
        if (errand && errand.given === undefined) requests.push({ device, tab, errand });
      });
    }
    const [first] = requests;
    if (!first) return;
    if (command.loss === "request") {
      for (const { device, tab } of requests) device.tabs[tab] = null;
      return;
    }
    const leaving = command.logout ? first.device : null;
    leaving?.forget();
    const [answers] = await Promise.all([
      Promise.all(requests.map((request) => this.#sendCopies(request, command))),
      leaving && this.#logout(leaving, command.node, "token"),
    ]);
    for (const device of this.devices) {
      const own = requests.flatMap((request, index) =>
        request.device === device ? [presented(request, answers[index] ?? [])] : [],
      );
      if (device === leaving) device.family.judgeRace(own, (await this.#row(device.sid)).counter);
      else device.family.judge(own);
    }
    for (const [index, request] of requests.entries()) {
      const copies = answers[index] ?? [];
      const heard = copies[command.heard % copies.length];
      await this.#hear(request, command.loss === "answer" ? undefined : heard, command.node);
    }
  }

  /** The same bytes several times, to both nodes. */
  async #sendCopies({ device, errand }: Request, { node, copies }: Send): Promise<RefreshAnswer[]> {
    const attempt = async () => {
      const proof = await device.key.proof({ htm: "POST", htu, nonce: this.nonce });
      device.sentProofs.push(proof);
      const send = (_: unknown, copy: number) => this.#refresh(errand.refreshToken, (node + copy) % 2, proof);
      return Promise.all(Array.from({ length: copies }, send));
    };
    const answers = await attempt();
    return answers.every(({ body }) => body.code === "use_dpop_nonce") ? attempt() : answers;
  }

  /** What a client does with the one answer it hears. */
  async #hear(request: Request, heard: RefreshAnswer | undefined, node: number): Promise<void> {
    const { device, tab, errand } = request;
    let answer = heard;
    if (answer?.body.code === "invalid_dpop_proof") {
      // Its own proof came to the server twice: it makes another and asks again.
      answer = await this.#present(device, errand.refreshToken, node);
      device.family.judge([{ counter: counterOf(errand.refreshToken), outcome: outcomeOf(answer) }]);
    }
    if (answer?.status === 200) device.accessTokens.push(answer.body.token);
    device.tabs[tab] = answer?.status === 200 ? { ...errand, given: answer.body.refreshToken } : null;
  }

  async #present(device: Device, refreshToken: string, node: number): Promise<RefreshAnswer> {
    const errand = { version: 0, refreshToken };
    const alone = { tabs: [], copies: 1, heard: 0, loss: "nothing", logout: false } as const;
    const [answer] = await this.#sendCopies({ device, tab: 0, errand }, { do: "send", node, ...alone });
    if (!answer) throw new Error("Nothing was sent.");
    return answer;
  }

  async #refresh(refreshToken: string, node: number, proof: string | null): Promise<RefreshAnswer> {
    const { api } = nodeAt(this.deployment.nodes, node);
    const answer = await api.refresh(refreshToken, { ...(proof !== null && { headers: { dpop: proof } }) });
    this.nonce = answer.headers.get("dpop-nonce") ?? this.nonce;
    return answer;
  }

  async #logout(device: Device, node: number, by: "bearer" | "token" | "hash"): Promise<void> {
    const refreshToken = device.lastStored;
    const token = device.accessTokens.at(-1) ?? "";
    const refreshTokenHash = hash("sha256", refreshToken, "hex");
    // Only who was offline for long has an expired access token and must use another way.
    const { api } = nodeAt(this.deployment.nodes, node);
    const isAlive = by === "bearer" && (await api.checkToken(token)).status === 200;
    const options: CallOptions = isAlive
      ? { token }
      : { body: by === "token" ? { refreshToken } : { refreshTokenHash } };
    const answer = await api.logout(options);
    expect(answer.status, answer.text).toBe(204);
    expect((await api.checkToken(token)).status, "the access token died with its session").toBe(401);
  }

  async #attack(command: Extract<Command, { do: "attack" }>): Promise<void> {
    const device = this.#at(command.tab, (found) => found);
    const tokens = [...device.family.tokens.values()];
    const token = tokens[tokens.length - 1 - (command.token % tokens.length)] ?? "";
    const before = await this.#row(device.sid);
    const answer = await this.#refresh(token, command.node, await this.#forge(command.proof, device));
    expect(answer.status, `an attacker was answered ${answer.text}`).toBe(400);
    expect(answer.text).not.toContain('refreshToken":');
    expect(await this.#row(device.sid)).toEqual(before);
  }

  async #forge(kind: Extract<Command, { do: "attack" }>["proof"], device: Device): Promise<string | null> {
    const claims = { htm: "POST", htu, nonce: this.nonce };
    switch (kind) {
      case "none":
        return null;
      case "own key":
        return this.attacker.proof(claims);
      case "own key as theirs":
        return this.attacker.proof(claims, { jwk: device.key.jwk });
      case "captured":
        return device.sentProofs.at(-1) ?? null;
    }
  }

  #row(sid: string) {
    const { db } = this.deployment.store;
    return db.selectFrom("sessions").selectAll().where("id", "=", sid).executeTakeFirstOrThrow();
  }
}

/** Of several copies the server takes one; the others show a proof that was used. */
function presented({ errand }: Request, copies: readonly RefreshAnswer[]): Presented {
  const taken = copies.filter(({ body }) => body.code !== "invalid_dpop_proof");
  expect(taken, `one of ${copies.length} copies is taken`).toHaveLength(1);
  for (const { status } of copies) if (status >= 500) throw new Error("The server failed.");
  const [answer] = taken;
  if (!answer) throw new Error("No copy was taken.");
  return { counter: counterOf(errand.refreshToken), outcome: outcomeOf(answer) };
}
