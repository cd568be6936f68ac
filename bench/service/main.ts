import { fileURLToPath } from "node:url";
import { runBenchmark } from "../shared/benchmark.ts";
import { measureCheckToken } from "./measures/check-token.ts";
import { measureLogin } from "./measures/login.ts";
import type { Measure } from "./measures/measure.ts";
import { measureRefresh } from "./measures/refresh.ts";
import { measureStart } from "./measures/start.ts";
import { help, type MeasureName, parseOptions } from "./options.ts";

const measures: Readonly<Record<MeasureName, Measure>> = {
  "check-token": measureCheckToken,
  login: measureLogin,
  refresh: measureRefresh,
  start: measureStart,
};

runBenchmark({
  resultFile: fileURLToPath(new URL("../results/service.json", import.meta.url)),
  help,
  parseOptions,
  measures: ({ only }) => only.map((name) => measures[name]),
});
