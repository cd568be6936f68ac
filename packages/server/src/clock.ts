/** Time is passed in, so that a test can live through a month in a second. */
export interface Clock {
  /** Wall-clock milliseconds. Only for what people and tokens see; ages are measured by the database's clock. */
  now(): number;
  /** Milliseconds that never jump, for measuring how long something took. */
  monotonic(): number;
  /** How far this clock is ahead of the machine's: the store adds it to the database's clock. */
  readonly offset: number;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  offset: 0,
};
