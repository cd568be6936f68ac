import { randomBytes } from "node:crypto";
import { type HashParameters, runHashTask, tasksAhead } from "./hash-threads.ts";
import { createWorkGate, type Lane, type WorkGateOptions } from "./work-gate.ts";

/** OWASP's second recommendation for argon2id, the library's algorithm by default; the parameters travel in each hash. */
const parameters = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;
const ourWork = parameters.memoryCost * parameters.timeCost;

/** What nobody from outside asks for. */
const noLane: Lane = [""];

export interface PasswordHasher {
  hash(password: string): Promise<string>;
  /**
   * With `null`, for someone who does not exist: takes the same time and is false. Lanes take turns, so that a flood in
   * one of them does not delay the others; each tenant has its own, and in it whoever can be told apart.
   */
  verify(hash: string | null, password: string, lane?: Lane): Promise<boolean>;
  /** Throws `busy` where there is no place in the queue: a flood should cost as little as can be. */
  demandRoom(lane: Lane): void;
  /** The hash was made with weaker parameters than ours. */
  needsUpgrade(hash: string): boolean;
}

/** `parallel` hashes run at once: more than there are cores would only slow each other. */
export function createPasswordHasher({ parallel, queue }: WorkGateOptions): PasswordHasher {
  // What lies at hand for a thread has left the queue; both together stay as many as were asked for.
  const ahead = tasksAhead(parallel);
  const gate = createWorkGate({ parallel: ahead, queue: Math.max(0, queue - (ahead - parallel)) });
  const verify = (known: string, password: string) =>
    runHashTask({ kind: "verify", known, password }, parallel) as Promise<boolean>;
  const hash = (password: string, cost: HashParameters = parameters) =>
    runHashTask({ kind: "hash", password, parameters: cost }, parallel) as Promise<string>;
  const decoy = makeDecoy();

  return {
    hash: (password) => gate.run(noLane, () => hash(password)),
    verify: (known, password, lane = noLane) =>
      gate.run(lane, async () => {
        if (known === null) {
          await verify(decoy, password);
          return false;
        }
        const matches = await verify(known, password);
        // A weaker hash is refused sooner, which would tell that there is someone: the missing work is done all the same.
        const missing = ourWork - costOf(known).work;
        if (!matches && missing > 0) await hash(password, { ...parameters, memoryCost: memoryFor(missing) });
        return matches;
      }),
    demandRoom: gate.demandRoom,
    needsUpgrade: (known) => {
      const { isOurKind, memory, work } = costOf(known);
      return !isOurKind || memory < parameters.memoryCost || work < ourWork;
    },
  };
}

/** A hash of the usual cost, of no password. */
function makeDecoy(): string {
  const random = (bytes: number) => randomBytes(bytes).toString("base64").replace(/=+$/, "");
  const { memoryCost, timeCost, parallelism } = parameters;
  return `$argon2id$v=19$m=${memoryCost},t=${timeCost},p=${parallelism}$${random(16)}$${random(32)}`;
}

const form = /^\$argon2(?<kind>id|i|d)\$v=(?<version>\d+)\$m=(?<memory>\d+),t=(?<passes>\d+),p=\d+\$/;

/** What a hash cost to make: memory in KiB, and work as memory times passes. */
function costOf(known: string): { isOurKind: boolean; memory: number; work: number } {
  const { kind, version, memory, passes } = form.exec(known)?.groups ?? {};
  return {
    isOurKind: kind === "id" && version === "19",
    memory: Number(memory ?? 0),
    work: Number(memory ?? 0) * Number(passes ?? 0),
  };
}

const leastMemory = 8;

const memoryFor = (work: number) => Math.max(leastMemory, Math.floor(work / parameters.timeCost));
