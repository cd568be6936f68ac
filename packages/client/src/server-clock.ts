/** The server's time as this device can best tell it: device clocks may be wrong by days. */
export interface ServerClock {
  /** Milliseconds by the server's clock. */
  now(): number;
  /** How far the server is ahead of this device, in ms. */
  skew: number;
}

export function createServerClock(deviceNow: () => number): ServerClock {
  return {
    skew: 0,
    now() {
      return deviceNow() + this.skew;
    },
  };
}
