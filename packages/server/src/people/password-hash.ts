import { hash, verify } from "@node-rs/argon2";
import { Fault } from "../fault.ts";

/** OWASP's second recommendation for argon2id, the library's algorithm by default; the parameters travel in each hash. */
const parameters = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;
const ours = `$argon2id$v=19$m=${parameters.memoryCost},t=${parameters.timeCost},p=${parameters.parallelism}$`;

export interface PasswordHasher {
  hash(password: string): Promise<string>;
  /** With `null`, for someone who does not exist: takes the same time and is false. */
  verify(hash: string | null, password: string): Promise<boolean>;
  /** The hash was made with weaker parameters than ours. */
  needsUpgrade(hash: string): boolean;
}

export interface PasswordHasherOptions {
  /** How many run at once: the cores, for more would only slow each other. */
  readonly parallel: number;
  /** How many may wait; beyond that the answer is `busy`. */
  readonly queue: number;
}

export function createPasswordHasher(options: PasswordHasherOptions): PasswordHasher {
  const gate = createGate(options);
  // A hash of the usual cost that nothing matches, made once.
  let decoy: Promise<string> | undefined;

  return {
    hash: (password) => gate(() => hash(password, parameters)),
    async verify(known, password) {
      decoy ??= hash(crypto.randomUUID(), parameters);
      const against = known ?? (await decoy);
      const matches = await gate(() => verify(against, password));
      return matches && known !== null;
    },
    needsUpgrade: (known) => !known.startsWith(ours),
  };
}

/** Lets `parallel` tasks run and `queue` wait, in order. */
function createGate({ parallel, queue }: PasswordHasherOptions) {
  const waiting: (() => void)[] = [];
  let running = 0;

  return async <T>(task: () => Promise<T>): Promise<T> => {
    if (running >= parallel) {
      if (waiting.length >= queue) throw new Fault("busy", { detail: "password queue is full", retryAfter: 1 });
      await new Promise<void>((resolve) => waiting.push(resolve));
    } else {
      running += 1;
    }
    try {
      return await task();
    } finally {
      // The place passes straight to the next in line, so nobody can slip in between.
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
}
