import { type ChildProcess, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";

/** What a process of the benchmark can be asked to do: see `answerTasks`. */
export type Tasks = Readonly<Record<string, (input: never) => unknown>>;

export interface TaskMessage {
  readonly id: number;
  readonly task: string;
  readonly input: unknown;
}

export type AnswerMessage =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly error: string };

/** One process that takes part in a measurement. */
export interface Child<T extends Tasks> {
  readonly pid: number;
  ask<Name extends keyof T & string>(task: Name, ...input: Parameters<T[Name]>): Promise<Awaited<ReturnType<T[Name]>>>;
  end(): Promise<void>;
}

const living = new Set<ChildProcess>();

/** Starts a file of `processes/`, or the one at an address, in a process of its own. */
export function startChild<T extends Tasks>(file: string | URL, nodeOptions: readonly string[] = []): Child<T> {
  const path = fileURLToPath(file instanceof URL ? file : new URL(`processes/${file}`, import.meta.url));
  const child = fork(path, [], {
    execArgv: [...nodeOptions],
    serialization: "advanced",
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  living.add(child);
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  let lastId = 0;

  child.on("message", (message: AnswerMessage) => {
    const asked = waiting.get(message.id);
    waiting.delete(message.id);
    if ("error" in message) asked?.reject(new Error(`${basename(path)}: ${message.error}`));
    else asked?.resolve(message.result);
  });
  child.on("exit", (code, signal) => {
    living.delete(child);
    for (const { reject } of waiting.values()) reject(new Error(`${basename(path)} ended early (${signal ?? code}).`));
  });

  return {
    pid: child.pid ?? 0,
    ask(task, ...input) {
      lastId += 1;
      const message: TaskMessage = { id: lastId, task, input: input[0] };
      return new Promise((resolve, reject) => {
        waiting.set(message.id, { resolve: resolve as (value: unknown) => void, reject });
        child.send(message, (error) => error && reject(error));
      });
    },
    end: () => end(child),
  };
}

/** Starts a program of its own on this Node. */
export function startProgram(
  args: readonly string[],
  options: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
): { readonly pid: number; readonly exitCode: Promise<number | null>; end(): Promise<void> } {
  const child = spawn(process.execPath, [...args], {
    cwd: options.cwd,
    env: { ...process.env, ...options.env },
    stdio: ["ignore", "ignore", "inherit"],
  });
  living.add(child);
  const exitCode = new Promise<number | null>((resolve) => child.on("exit", resolve));
  child.on("exit", () => living.delete(child));
  return { pid: child.pid ?? 0, exitCode, end: () => end(child) };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  // A channel that closes tells the process to finish; whoever does not is ended.
  if (child.connected) child.disconnect();
  else child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), 5000);
  await ended;
  clearTimeout(timer);
}

/** Ends every process that is left, on whatever path the benchmark ends. */
export async function endChildren(): Promise<void> {
  await Promise.all([...living].map(end));
}
