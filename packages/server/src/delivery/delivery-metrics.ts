import type { Metrics } from "../http/metrics.ts";
import type { DeliveryOutcome } from "./outcome.ts";
import type { ReceiptResult } from "./receipts.ts";

/** Counts what became of messages: spend, and where it is lost, per tenant and channel. */
export function countDeliveries(metrics: Metrics): (outcome: DeliveryOutcome) => void {
  const messages = metrics.counter("fieldgate_messages_total", "Messages by what became of them.", [
    "tenant",
    "channel",
    "outcome",
  ]);
  const parts = metrics.counter(
    "fieldgate_message_parts_total",
    "Parts of messages that were sent: what an SMS gateway charges for.",
    ["tenant", "channel"],
  );
  return ({ tenantId, channel, outcome, parts: sent }) => {
    messages.inc({ tenant: tenantId, channel, outcome });
    if (sent !== undefined) parts.inc({ tenant: tenantId, channel }, sent);
  };
}

/** Counts what gateways post: a channel whose receipts are unreadable, or all unknown, is set up wrongly. */
export function countReceipts(metrics: Metrics): (channel: string, result: ReceiptResult) => void {
  const receipts = metrics.counter("fieldgate_receipts_total", "Receipts that gateways posted, by what they said.", [
    "channel",
    "result",
  ]);
  return (channel, result) => receipts.inc({ channel, result });
}
