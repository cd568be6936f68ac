/** How many letters must be added, dropped, changed or swapped to make `a` into `b`. */
function distance(a: string, b: string): number {
  const rows = Array.from({ length: a.length + 1 }, (_, i) => [i]);
  const at = (i: number, j: number) => rows[i]?.[j] ?? Number.POSITIVE_INFINITY;
  for (let j = 1; j <= b.length; j++) (rows[0] as number[])[j] = j;
  for (let i = 1; i <= a.length; i++) {
    for (let j = 1; j <= b.length; j++) {
      const change = a[i - 1] === b[j - 1] ? 0 : 1;
      const swapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? at(i - 2, j - 2) + 1 : Number.POSITIVE_INFINITY;
      (rows[i] as number[])[j] = Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, at(i - 1, j - 1) + change, swapped);
    }
  }
  return at(a.length, b.length);
}

/** ` Did you mean …?` with the closest of the known words, or nothing where none is close. */
export function didYouMean(word: string, known: readonly string[]): string {
  const [best] = known
    .map((candidate) => ({ candidate, far: distance(word.slice(0, 64), candidate) }))
    .sort((a, b) => a.far - b.far);
  return best && best.far <= Math.max(2, best.candidate.length / 3) ? ` Did you mean ${best.candidate}?` : "";
}
