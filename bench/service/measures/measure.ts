import type { Spread } from "../statistics.ts";

export interface MeasureOptions {
  readonly rounds: number;
  readonly seconds: number;
  /** A folder for databases, removed in the end. */
  readonly folder: string;
  /** Options of the Node that runs the service. */
  readonly nodeOptions: readonly string[];
  /** Says what is going on; the line is replaced by the next. */
  readonly progress: (line: string) => void;
}

/** One line of the table. */
export interface Finding {
  readonly name: string;
  /** What Fieldgate did, and what it is compared with, in words with units. */
  readonly ours: string;
  readonly theirs: string;
  readonly spread: Spread;
  readonly unit: "ratio" | "s" | "ms" | "MB" | "rows/s";
  readonly target: { readonly atLeast: number } | { readonly atMost: number };
  /** Everything that was measured, for the JSON. */
  readonly detail: Readonly<Record<string, unknown>>;
}

export function isMet({ spread, target }: Finding): boolean {
  return "atLeast" in target ? spread.median >= target.atLeast : spread.median <= target.atMost;
}

export type Measure = (options: MeasureOptions) => Promise<Finding[]>;
