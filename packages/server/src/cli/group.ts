import type { Command } from "commander";

/** A command that only holds others, such as `user`. Alone it shows them. */
export function defineGroup(program: Command, name: string, summary: string): Command {
  return program.command(name).summary(summary).description(summary).usage("<command> [options]");
}

/** For an option that may be given several times. */
export function collect(value: string, earlier: readonly string[] = []): string[] {
  return [...earlier, value];
}
