const bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;

interface Tally {
  readonly buckets: number[];
  sum: number;
  count: number;
}

/** The durations of one route's answers, by status. Counting one costs an array access, so the hot path can afford it. */
export class RequestMeter {
  readonly #labels: { readonly route: string; readonly method: string };
  readonly #byStatus = new Map<number, Tally>();

  constructor(route: string, method: string) {
    this.#labels = { route, method };
  }

  get route(): string {
    return this.#labels.route;
  }

  observe(status: number, seconds: number): void {
    let tally = this.#byStatus.get(status);
    if (tally === undefined) {
      tally = { buckets: bounds.map(() => 0), sum: 0, count: 0 };
      this.#byStatus.set(status, tally);
    }
    tally.sum += seconds;
    tally.count++;
    for (let index = 0; index < bounds.length; index++) {
      if (seconds <= (bounds[index] as number)) {
        (tally.buckets[index] as number)++;
        return;
      }
    }
  }

  /** The samples of a Prometheus histogram: buckets that contain each other, their sum and their count. */
  samples(name: string) {
    return [...this.#byStatus].flatMap(([status, tally]) => {
      const labels = { ...this.#labels, status: status === aborted ? "aborted" : String(status) };
      let below = 0;
      const buckets = bounds.map((bound, index) => {
        below += tally.buckets[index] as number;
        return { metricName: `${name}_bucket`, labels: { ...labels, le: bound }, value: below };
      });
      return [
        ...buckets,
        { metricName: `${name}_bucket`, labels: { ...labels, le: "+Inf" }, value: tally.count },
        { metricName: `${name}_sum`, labels, value: tally.sum },
        { metricName: `${name}_count`, labels, value: tally.count },
      ];
    });
  }
}

/** The status of a request whose client went away before its answer. */
export const aborted = 0;
