import { flushCompileCache } from "node:module";
import type { CliContext } from "./cli/context.ts";
import { runCommandLine } from "./cli/program.ts";
import { systemClock } from "./clock.ts";

/** The command line as a process: the one place, beside the demo, that touches `process`. */
export async function runProcess(): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      // Whoever read our output has seen enough, as `head` does.
      if (error.code === "EPIPE") process.exit(process.exitCode);
      throw error;
    });
  }
  const cli: CliContext = {
    env: process.env,
    cwd: process.cwd(),
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    clock: systemClock,
    onStopSignal(heard) {
      process.on("SIGTERM", () => heard("SIGTERM"));
      process.on("SIGINT", () => heard("SIGINT"));
    },
    exit: (code) => process.exit(code),
    exitCode: 0,
  };
  await runCommandLine(process.argv.slice(2), cli);
  process.exitCode = cli.exitCode;
  // A service may be killed, and then keeps nothing; the next start is quicker if this one's code is kept now.
  flushCompileCache();
}
