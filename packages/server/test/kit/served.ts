import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { CommandLine } from "./command-line.ts";

/** `fieldgate serve` as a process of its own. */
export interface Served {
  readonly url: string;
  readonly process: ChildProcessWithoutNullStreams;
  /** Everything it wrote, so far. */
  output(): string;
  /** Sends the signal and waits for the end; gives the exit code, or the signal it died of. */
  stop(signal?: NodeJS.Signals): Promise<number | string | null>;
}

export async function serve(
  line: CommandLine,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<Served> {
  const child = line.spawn(["serve", "--json", ...args], { env: { FIELDGATE_LOG_LEVEL: "error", ...env } });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8");
    stream.on("data", (text: string) => {
      output += text;
    });
  }
  const ended = once(child, "exit");
  const firstLine = once(createInterface({ input: child.stdout }), "line") as Promise<[string]>;
  const first = await Promise.race([firstLine, ended.then(() => null)]);
  if (first === null) throw new Error(`fieldgate serve ended before it answered: ${output}`);
  const { url } = JSON.parse(first[0]) as { url: string };
  return {
    url,
    process: child,
    output: () => output,
    async stop(signal = "SIGTERM") {
      child.kill(signal);
      const [code, killedBy] = (await ended) as [number | null, string | null];
      return code ?? killedBy;
    },
  };
}
