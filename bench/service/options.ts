import type { BenchmarkOptions } from "../shared/benchmark.ts";
import { readOptions, someOf, wholeNumber } from "../shared/option-values.ts";

export const measureNames = ["check-token", "login", "refresh", "start"] as const;
export type MeasureName = (typeof measureNames)[number];

export interface Options extends BenchmarkOptions {
  readonly only: readonly MeasureName[];
}

export const help = `Measures the service beside the least that could do the same work, and prints a table.

  npm run bench:service -- [options]

  --rounds N      how often each comparison is repeated (5)
  --seconds N     how long each side runs in a round (2)
  --only NAMES    some of: ${measureNames.join(", ")}; separated by commas
  --profile DIR   write CPU profiles of the service there; the figures are then lower
  --help          this text

Both sides of a comparison run one right after the other in every round, each in a process of its own; the ratio is
taken within a round. The results are also written to bench/results/service.json. The exit code is 1 when a target is
missed. Everything runs on this machine alone and takes about four minutes.
`;

export function parseOptions(args: readonly string[]): Options {
  const values = readOptions(args, {
    rounds: { type: "string" },
    seconds: { type: "string" },
    only: { type: "string" },
    profile: { type: "string" },
    help: { type: "boolean" },
  });
  return {
    rounds: wholeNumber("--rounds", values.rounds ?? "5", 1, 100),
    seconds: wholeNumber("--seconds", values.seconds ?? "2", 1, 60),
    only: values.only === undefined ? measureNames : someOf("--only", values.only, measureNames),
    profile: values.profile ?? null,
    help: values.help ?? false,
  };
}
