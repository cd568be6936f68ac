/** Does the work once, for all who ask. A failure is forgotten: the next one who asks tries again. */
export function once<T>(work: () => Promise<T>): () => Promise<T> {
  let outcome: Promise<T> | undefined;
  return () => {
    outcome ??= work().catch((error) => {
      outcome = undefined;
      throw error;
    });
    return outcome;
  };
}
