import type { AnswerMessage, TaskMessage, Tasks } from "./children.ts";

/** The other end of `startChild`: does what the parent asks, and ends with it. */
export function answerTasks(tasks: Tasks, onEnd: () => Promise<void> | void = () => {}): void {
  process.on("message", async ({ id, task, input }: TaskMessage) => {
    let answer: AnswerMessage;
    try {
      const work = tasks[task] as ((input: unknown) => unknown) | undefined;
      if (!work) throw new Error(`There is no task ${task}.`);
      answer = { id, result: await work(input) };
    } catch (error) {
      answer = { id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) };
    }
    process.send?.(answer);
  });
  process.on("disconnect", async () => {
    await onEnd();
    process.exit(0);
  });
  // Ctrl-C reaches the whole group; the parent decides.
  process.on("SIGINT", () => {});
}

/** Microseconds of processor time this process has used, in all its threads. */
export function cpuTime(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}
