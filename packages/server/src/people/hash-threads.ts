import { availableParallelism } from "node:os";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { hashSync, verifySync } from "@node-rs/argon2";

/** What one hash costs: see `password-hash`. */
export interface HashParameters {
  readonly memoryCost: number;
  readonly timeCost: number;
  readonly parallelism: number;
}

export type HashTask =
  | { readonly kind: "hash"; readonly password: string; readonly parameters: HashParameters }
  | { readonly kind: "verify"; readonly password: string; readonly known: string };

type Answer =
  | { readonly id: number; readonly result: string | boolean }
  | { readonly id: number; readonly error: Error };

/**
 * As many threads as there are cores, for hashing alone. Each has its next task at hand when it ends one: with Node's
 * own pool a core would wait, after every hash, until the main thread has time to hand out another.
 */
class HashThread {
  readonly #worker = new Worker(new URL(import.meta.url), { workerData: threadMark });
  readonly #waiting = new Map<number, { resolve(result: string | boolean): void; reject(error: Error): void }>();
  #lastId = 0;
  hasEnded = false;

  constructor() {
    this.#worker.on("message", (answer: Answer) => this.#settle(answer));
    // A thread that dies takes nothing along but what it was at; the next task gets a new one.
    this.#worker.on("error", (error) => this.#end(error));
    this.#worker.on("exit", () => this.#end(new Error("A hashing thread ended.")));
    this.#worker.unref();
  }

  get load(): number {
    return this.#waiting.size;
  }

  run(task: HashTask): Promise<string | boolean> {
    return new Promise((resolve, reject) => {
      this.#lastId += 1;
      this.#waiting.set(this.#lastId, { resolve, reject });
      // Somebody waits for it, so the process stays for as long as it takes.
      this.#worker.ref();
      this.#worker.postMessage({ id: this.#lastId, ...task });
    });
  }

  #settle(answer: Answer): void {
    const asked = this.#waiting.get(answer.id);
    this.#waiting.delete(answer.id);
    if (this.load === 0) this.#worker.unref();
    if ("error" in answer) asked?.reject(answer.error);
    else asked?.resolve(answer.result);
  }

  #end(error: Error): void {
    this.hasEnded = true;
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}

const threadMark = "fieldgate-hash";
/** The process has as many cores however many services it runs; made when the first password comes. */
let threads: HashThread[] = [];

/** Tasks that may be handed out at once: one under way on each thread, and one at hand. */
export const tasksAhead = (parallel: number): number => 2 * Math.min(parallel, availableParallelism());

/** Runs a task on the thread that has the least to do. */
export function runHashTask(task: HashTask, parallel: number): Promise<string | boolean> {
  threads = threads.filter((thread) => !thread.hasEnded);
  const most = Math.min(parallel, availableParallelism());
  const calmest = threads.slice(0, most).sort((a, b) => a.load - b.load)[0];
  if (calmest && (calmest.load === 0 || threads.length >= most)) return calmest.run(task);
  const thread = new HashThread();
  threads.push(thread);
  return thread.run(task);
}

function perform(task: HashTask): string | boolean {
  if (task.kind === "verify") return verifySync(task.known, task.password);
  return hashSync(task.password, task.parameters);
}

if (!isMainThread && workerData === threadMark) {
  parentPort?.on("message", ({ id, ...task }: { id: number } & HashTask) => {
    try {
      parentPort?.postMessage({ id, result: perform(task) } satisfies Answer);
    } catch (error) {
      parentPort?.postMessage({ id, error: error as Error } satisfies Answer);
    }
  });
}
