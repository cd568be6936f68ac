import type { BenchmarkOptions } from "../shared/benchmark.ts";
import { readOptions, someOf, wholeNumber } from "../shared/option-values.ts";

export const measureNames = ["push", "unsynced", "pull"] as const;
export type MeasureName = (typeof measureNames)[number];

export interface Options extends BenchmarkOptions {
  readonly only: readonly MeasureName[];
  /** How many events are pushed. */
  readonly events: number;
  /** How many events a device holds, or pulls. */
  readonly stored: number;
}

export const help = `Measures the exchange of events between Chromium and the service, and prints a table.

  npm run bench:sync -- [options]

  --rounds N      how often each push is repeated (3)
  --only NAMES    some of: ${measureNames.join(", ")}; separated by commas
  --events N      how many events are pushed (10000)
  --stored N      how many events a device holds, and pulls (100000)
  --profile DIR   write CPU profiles of the service there; the figures are then lower
  --help          this text

push: events that lie sealed in IndexedDB go to a service in a process of its own, on SQLite and on PostgreSQL; beside it the
rows which that service stored are inserted into the same kind of database, 500 in a transaction, by a program that does nothing
else. The target is half of that rate or 2,000 events a second, whichever is lower. unsynced: the p99 of 1,000 calls of
\`hasUnsyncedEvents()\`. pull: what the page's heap grows by from the first fifth of the pull to its
end, swept before each look.

The results are also written to bench/results/sync.json. The exit code is 1 when a target is missed. It needs Chromium, runs on
this machine alone and takes about five minutes.
`;

export function parseOptions(args: readonly string[]): Options {
  const values = readOptions(args, {
    rounds: { type: "string" },
    only: { type: "string" },
    events: { type: "string" },
    stored: { type: "string" },
    profile: { type: "string" },
    help: { type: "boolean" },
  });
  return {
    rounds: wholeNumber("--rounds", values.rounds ?? "3", 1, 100),
    seconds: 0,
    only: values.only === undefined ? measureNames : someOf("--only", values.only, measureNames),
    events: wholeNumber("--events", values.events ?? "10000", 1000, 1_000_000),
    stored: wholeNumber("--stored", values.stored ?? "100000", 5000, 1_000_000),
    profile: values.profile ?? null,
    help: values.help ?? false,
  };
}
