import type { BenchmarkOptions } from "../shared/benchmark.ts";
import { readOptions, someOf, wholeNumber } from "../shared/option-values.ts";

export const measureNames = ["otp", "id", "look-up", "import"] as const;
export type MeasureName = (typeof measureNames)[number];

export interface Options extends BenchmarkOptions {
  readonly only: readonly MeasureName[];
  /** How many people the large databases have. */
  readonly people: number;
  /** How many rows are imported. */
  readonly rows: number;
}

export const help = `Measures how citizens sign in, beside the same work written by hand, and prints a table.

  npm run bench:citizens -- [options]

  --rounds N      how often each comparison is repeated (5)
  --seconds N     how long each side runs in a round (2)
  --only NAMES    some of: ${measureNames.join(", ")}; separated by commas
  --people N      how many people the look-up is measured with, beside 10,000 (200000)
  --rows N        how many rows are imported (100000)
  --profile DIR   write CPU profiles of the service there; the figures are then lower
  --help          this text

otp and id: right codes, and right numbers with their dates, beside a bare node:http server with the same statements,
prepared, and the same cryptography; each in a process of its own, one right after the other in every round, and the
ratio is taken within a round. look-up: one person by their ID number, in databases of both sizes in turn. import:
\`fieldgate beneficiary import\` of a CSV file into an empty SQLite database.

The results are also written to bench/results/citizens.json. The exit code is 1 when a target is missed. Everything
runs on this machine alone and takes about five minutes; with --people 1000000 about ten more.
`;

export function parseOptions(args: readonly string[]): Options {
  const values = readOptions(args, {
    rounds: { type: "string" },
    seconds: { type: "string" },
    only: { type: "string" },
    people: { type: "string" },
    rows: { type: "string" },
    profile: { type: "string" },
    help: { type: "boolean" },
  });
  return {
    rounds: wholeNumber("--rounds", values.rounds ?? "5", 1, 100),
    seconds: wholeNumber("--seconds", values.seconds ?? "2", 1, 60),
    only: values.only === undefined ? measureNames : someOf("--only", values.only, measureNames),
    people: wholeNumber("--people", values.people ?? "200000", 20_000, 10_000_000),
    rows: wholeNumber("--rows", values.rows ?? "100000", 1000, 10_000_000),
    profile: values.profile ?? null,
    help: values.help ?? false,
  };
}
