import { argon2, randomBytes } from "node:crypto";
import { availableParallelism } from "node:os";
import { promisify } from "node:util";
import { hash, verify } from "@node-rs/argon2";
import { answerTasks, cpuTime } from "../answer-tasks.ts";
import { password } from "../service-config.ts";

/** The parameters of the service: see `people/password-hash`. */
const parameters = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

const argon2Async = promisify(argon2);
const builtIn = {
  message: password,
  nonce: randomBytes(16),
  parallelism: parameters.parallelism,
  memory: parameters.memoryCost,
  passes: parameters.timeCost,
  tagLength: 32,
};

/** How fast this machine can check passwords at all: as many at once as there are cores, and nothing else. */
const engines = {
  async library() {
    const known = await hash(password, parameters);
    return () => verify(known, password);
  },
  async node() {
    return () => argon2Async("argon2id", builtIn);
  },
};

const tasks = {
  async run({ engine, seconds }: { engine: keyof typeof engines; seconds: number }) {
    const check = await engines[engine]();
    const start = performance.now();
    const end = start + seconds * 1000;
    let count = 0;
    async function checkOneAfterTheOther(): Promise<void> {
      while (performance.now() < end) {
        await check();
        count += 1;
      }
    }
    await Promise.all(Array.from({ length: availableParallelism() }, checkOneAfterTheOther));
    return { count, perSecond: count / ((performance.now() - start) / 1000) };
  },
  cpuTime,
};

export type Argon2Tasks = typeof tasks;

answerTasks(tasks);
