import { fileURLToPath } from "node:url";
import type { Measure } from "../service/measures/measure.ts";
import { runBenchmark } from "../shared/benchmark.ts";
import { measureHasUnsynced } from "./measures/has-unsynced.ts";
import { measurePull } from "./measures/pull.ts";
import { measurePush } from "./measures/push.ts";
import { help, type MeasureName, type Options, parseOptions } from "./options.ts";

const measures: Readonly<Record<MeasureName, (options: Options) => Measure>> = {
  push: ({ events }) => measurePush(events),
  unsynced: ({ stored }) => measureHasUnsynced(stored),
  pull: ({ stored }) => measurePull(stored),
};

runBenchmark({
  resultFile: fileURLToPath(new URL("../results/sync.json", import.meta.url)),
  help,
  parseOptions,
  measures: (options) => options.only.map((name) => measures[name](options)),
});
