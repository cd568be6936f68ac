/** What became of a message, for the metrics: never to whom it went. */
export interface DeliveryOutcome {
  readonly tenantId: string;
  /** Empty where none was chosen. */
  readonly channel: string;
  readonly outcome:
    | "sent"
    | "void"
    | "retry"
    | "failed"
    | "over_budget"
    | "over_prefix_budget"
    | "delivered"
    | "undelivered";
  /** What the other side charges for, where something was sent. */
  readonly parts?: number;
}
