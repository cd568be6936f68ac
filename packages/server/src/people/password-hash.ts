import { randomBytes } from "node:crypto";
import { hash, verify } from "@node-rs/argon2";
import { createWorkGate, type WorkGateOptions } from "./work-gate.ts";

/** OWASP's second recommendation for argon2id, the library's algorithm by default; the parameters travel in each hash. */
const parameters = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;
const ourWork = parameters.memoryCost * parameters.timeCost;

export interface PasswordHasher {
  hash(password: string): Promise<string>;
  /**
   * With `null`, for someone who does not exist: takes the same time and is false. Lanes take turns, so that a flood in
   * one of them does not delay the others; each tenant has its own.
   */
  verify(hash: string | null, password: string, lane?: string): Promise<boolean>;
  /** Throws `busy` where there is no place in the queue: a flood should cost as little as can be. */
  demandRoom(lane: string): void;
  /** The hash was made with weaker parameters than ours. */
  needsUpgrade(hash: string): boolean;
}

/** The cores are enough at once: more would only slow each other. */
export function createPasswordHasher(options: WorkGateOptions): PasswordHasher {
  const gate = createWorkGate(options);
  const decoy = makeDecoy();

  return {
    hash: (password) => gate.run("", () => hash(password, parameters)),
    verify: (known, password, lane = "") =>
      gate.run(lane, async () => {
        if (known === null) {
          await verify(decoy, password);
          return false;
        }
        const matches = await verify(known, password);
        if (!matches) await makeUpFor(known, password);
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

/** A weaker hash is refused sooner, which would tell that there is someone: the missing work is done all the same. */
async function makeUpFor(known: string, password: string): Promise<void> {
  const missing = ourWork - costOf(known).work;
  if (missing <= 0) return;
  const memoryCost = Math.max(leastMemory, Math.floor(missing / parameters.timeCost));
  await hash(password, { ...parameters, memoryCost });
}
