import { createInterface, type Interface } from "node:readline";
import { Writable } from "node:stream";
import { CliFailure } from "./cli-failure.ts";
import type { CliContext } from "./context.ts";

/** Longer input is a mistake, such as a wrong file. */
const maxInputBytes = 64 * 1024;

/** Whether there is someone to ask. */
export function canAsk(cli: CliContext): boolean {
  return cli.stdin.isTTY === true;
}

function interrupted(): CliFailure {
  return new CliFailure("Stopped: nothing was changed.");
}

function readLine(cli: CliContext, question: string, output: NodeJS.WritableStream): Promise<string> {
  const lines: Interface = createInterface({ input: cli.stdin, output, terminal: true, historySize: 0 });
  return new Promise<string>((resolve, reject) => {
    lines.once("SIGINT", () => reject(interrupted()));
    lines.once("close", () => reject(interrupted()));
    lines.question(question, resolve);
  }).finally(() => lines.close());
}

/** Asks on stderr, so that stdout holds the answer alone. An empty answer is the default. */
export async function ask(cli: CliContext, question: string, fallback = ""): Promise<string> {
  const hint = fallback === "" ? "" : ` [${fallback}]`;
  const answer = await readLine(cli, `${question}${hint}: `, cli.stderr);
  return answer.trim() || fallback;
}

/** Asks without showing what is typed. */
export async function askHidden(cli: CliContext, question: string): Promise<string> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  cli.stderr.write(`${question}: `);
  try {
    return await readLine(cli, "", nowhere);
  } finally {
    cli.stderr.write("\n");
  }
}

/** A yes or a no; without a terminal `flag` has to say yes. */
export async function confirm(cli: CliContext, question: string, flag = "--yes"): Promise<void> {
  if (!canAsk(cli)) throw new CliFailure(`${question} There is no terminal to ask on: add ${flag}.`, 2);
  const answer = (await ask(cli, `${question} [y/N]`)).toLowerCase();
  if (answer !== "y" && answer !== "yes") throw interrupted();
}

/** The whole of stdin as one text, without the line break at its end. */
export async function readStdin(cli: CliContext, what: string): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of cli.stdin) {
    const bytes = Buffer.from(chunk as Uint8Array);
    size += bytes.length;
    if (size > maxInputBytes) throw new CliFailure(`What stdin holds is too long for ${what}.`);
    chunks.push(bytes);
  }
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.concat(chunks));
  } catch {
    throw new CliFailure(`What stdin holds is no UTF-8 text: ${what} cannot be read.`);
  }
  return text.replace(/\r?\n$/, "");
}
