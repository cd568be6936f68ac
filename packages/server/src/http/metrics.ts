import { Counter, collectDefaultMetrics, Gauge, type Metric, Registry } from "prom-client";
import { RequestMeter } from "./request-meter.ts";

/** The service's own registry: nothing global, so that two services in one process stay apart. */
export interface Metrics {
  readonly registry: Registry;
  /** A meter for a route's answers; the same one for the same route. */
  requestMeter(route: string, method: string): RequestMeter;
  /** What the in-flight gauge shows when it is read. */
  watchInFlight(read: () => number): void;
  counter<Label extends string>(name: string, help: string, labels?: readonly Label[]): Counter<Label>;
  /** A gauge that is read when somebody looks. */
  gauge(name: string, help: string, read: () => number): void;
}

const durationName = "fieldgate_http_request_duration_seconds";

export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const meters = new Map<string, RequestMeter>();
  registry.registerMetric(requestDurations(meters));
  let inFlight = () => 0;

  function gauge(name: string, help: string, read: () => number): void {
    const metric: Gauge = new Gauge({
      name,
      help,
      registers: [registry],
      collect: () => metric.set(read()),
    });
  }

  gauge("fieldgate_http_requests_in_flight", "Requests that are being answered.", () => inFlight());

  return {
    registry,
    requestMeter(route, method) {
      const key = `${method} ${route}`;
      const meter = meters.get(key) ?? new RequestMeter(route, method);
      meters.set(key, meter);
      return meter;
    },
    watchInFlight(read) {
      inFlight = read;
    },
    counter: (name, help, labels = []) => new Counter({ name, help, labelNames: labels, registers: [registry] }),
    gauge,
  };
}

/** Our meters in the form the registry reads: it asks only when somebody looks. */
function requestDurations(meters: ReadonlyMap<string, RequestMeter>): Metric {
  const description = {
    name: durationName,
    help: "Seconds from a request's headers to the end of its answer.",
    type: "histogram",
    aggregator: "sum",
  };
  const get = async () => ({
    ...description,
    values: [...meters.values()].flatMap((meter) => meter.samples(durationName)),
  });
  return { ...description, get, reset: () => undefined } as unknown as Metric;
}
