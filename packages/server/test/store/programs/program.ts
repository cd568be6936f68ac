import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

export interface Program {
  readonly process: ChildProcess;
  /** What it prints, line by line. */
  readonly lines: AsyncIterable<string>;
  /** Its exit code; null when it was killed. */
  readonly ended: Promise<number | null>;
}

/** Runs a program of this folder as a process of its own; at the end of the test it is gone. */
export function runProgram(name: string, ...parameters: string[]): Program {
  const file = fileURLToPath(new URL(`${name}.ts`, import.meta.url));
  const child = spawn(process.execPath, [file, ...parameters], { stdio: ["pipe", "pipe", "inherit"] });
  const ended = once(child, "exit").then(([code]) => code as number | null);
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  return { process: child, lines: createInterface({ input: child.stdout }), ended };
}
