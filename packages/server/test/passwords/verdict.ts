/** Two series of times, measured in turns: `a[n]` and `b[n]` belong together. */
export interface Series {
  readonly a: readonly number[];
  readonly b: readonly number[];
}

export interface Verdict {
  /** How much longer b takes than a, in milliseconds. */
  readonly difference: number;
  /** How often chance alone would show as large a difference. */
  readonly chance: number;
  readonly differ: boolean;
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((x, y) => x - y);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? (sorted[middle] ?? 0) : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
}

/** How far the middle half of the values reaches: the noise that a leak has to rise above. */
export function spread(values: readonly number[]): number {
  const sorted = values.toSorted((x, y) => x - y);
  const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? 0;
  return at(0.75) - at(0.25);
}

/** A small generator with a seed: a verdict must not depend on luck. */
function coin(seed: number): () => boolean {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state >= 0x8000_0000;
  };
}

/** Whether the times differ by at least `least` milliseconds, beyond what noise explains: a permutation test on pairs. */
export function compareTimes({ a, b }: Series, least: number): Verdict {
  const differences = a.map((value, index) => (b[index] ?? value) - value);
  const difference = median(differences);
  const flip = coin(7);
  const rounds = 2000;
  let asLarge = 0;
  for (let round = 0; round < rounds; round += 1) {
    const flipped = median(differences.map((value) => (flip() ? value : -value)));
    if (Math.abs(flipped) >= Math.abs(difference)) asLarge += 1;
  }
  const chance = asLarge / rounds;
  return { difference, chance, differ: Math.abs(difference) >= least && chance < 0.01 };
}
