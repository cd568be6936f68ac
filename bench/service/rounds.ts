import type { MeasureOptions } from "./measures/measure.ts";
import { type Spread, spreadOf } from "./statistics.ts";

export interface RunResult {
  readonly perSecond: number;
  readonly count: number;
}

/** One side of a comparison. */
export interface Runner {
  run(seconds: number): Promise<RunResult>;
  /** Microseconds of processor time its server has used so far. */
  cpuTime(): Promise<number>;
}

export interface Comparison {
  readonly ratio: Spread;
  /** The medians of both sides, in words. */
  readonly ours: string;
  readonly theirs: string;
  readonly detail: Readonly<Record<string, unknown>>;
}

interface Sample {
  readonly perSecond: number;
  /** Microseconds of the server's processor time for each answer. */
  readonly cpuPerAnswer: number;
}

/**
 * Runs both sides once a round, one right after the other and in turn first, and compares only what belongs to the same
 * round: what else the machine is doing then weighs on both alike.
 */
export async function compareInRounds(
  name: string,
  ours: Runner,
  theirs: Runner,
  { rounds, seconds, progress }: Pick<MeasureOptions, "rounds" | "seconds" | "progress">,
): Promise<Comparison> {
  progress(`${name}: warming up`);
  await ours.run(seconds);
  await theirs.run(seconds);

  const samples: { readonly ours: Sample; readonly theirs: Sample }[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    progress(`${name}: round ${round} of ${rounds}`);
    const oursFirst = round % 2 === 1;
    const first = await sample(oursFirst ? ours : theirs, seconds);
    const second = await sample(oursFirst ? theirs : ours, seconds);
    samples.push(oursFirst ? { ours: first, theirs: second } : { ours: second, theirs: first });
  }

  const ratios = samples.map((round) => round.ours.perSecond / round.theirs.perSecond);
  const cpuRatios = samples.map((round) => round.theirs.cpuPerAnswer / round.ours.cpuPerAnswer);
  return {
    ratio: spreadOf(ratios),
    ours: inWords(samples.map((round) => round.ours)),
    theirs: inWords(samples.map((round) => round.theirs)),
    detail: { ratios, cpuRatios, cpuRatio: spreadOf(cpuRatios), rounds: samples },
  };
}

async function sample(runner: Runner, seconds: number): Promise<Sample> {
  const before = await runner.cpuTime();
  const { perSecond, count } = await runner.run(seconds);
  return { perSecond, cpuPerAnswer: ((await runner.cpuTime()) - before) / count };
}

function inWords(samples: readonly Sample[]): string {
  const { median } = spreadOf(samples.map(({ perSecond }) => perSecond));
  const cpu = spreadOf(samples.map(({ cpuPerAnswer }) => cpuPerAnswer)).median;
  return `${Math.round(median).toLocaleString("en")}/s, ${Math.round(cpu).toLocaleString("en")} µs CPU`;
}
