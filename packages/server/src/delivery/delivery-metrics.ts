import type { Metrics } from "../http/metrics.ts";
import type { DeliveryOutcome } from "./deliver.ts";

/** Counts what became of messages: spend, and where it is lost, per tenant and channel. */
export function countDeliveries(metrics: Metrics): (outcome: DeliveryOutcome) => void {
  const counter = metrics.counter("fieldgate_messages_total", "Messages by what became of them.", [
    "tenant",
    "channel",
    "outcome",
  ]);
  return ({ tenantId, channel, outcome }) => counter.inc({ tenant: tenantId, channel, outcome });
}
