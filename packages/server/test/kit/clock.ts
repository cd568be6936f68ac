import type { Clock } from "../../src/clock.ts";

/** The machine's clock, which a test can move. The store moves the database's clock with it. */
export class MovableClock implements Clock {
  offset = 0;

  readonly now = (): number => Date.now() + this.offset;
  readonly monotonic = (): number => performance.now() + this.offset;

  advance(seconds: number): void {
    this.offset += seconds * 1000;
  }
}
