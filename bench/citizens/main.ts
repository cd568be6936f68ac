import { fileURLToPath } from "node:url";
import type { Measure } from "../service/measures/measure.ts";
import { runBenchmark } from "../shared/benchmark.ts";
import { measureImport } from "./measures/import.ts";
import { measureLookUp } from "./measures/look-up.ts";
import { measureSignIn } from "./measures/sign-in.ts";
import { help, type MeasureName, type Options, parseOptions } from "./options.ts";

const measures: Readonly<Record<MeasureName, (options: Options) => Measure>> = {
  otp: () => measureSignIn("otp"),
  id: () => measureSignIn("id"),
  "look-up": ({ people }) => measureLookUp(people),
  import: ({ rows }) => measureImport(rows),
};

runBenchmark({
  resultFile: fileURLToPath(new URL("../results/citizens.json", import.meta.url)),
  help,
  parseOptions,
  measures: (options) => options.only.map((name) => measures[name](options)),
});
