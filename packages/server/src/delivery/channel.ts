import type { Medium } from "./outbox.ts";

/** A message that is ready to go. */
export interface OutboundMessage {
  /** The same for every try of one message: a channel that can tells repeats apart by it. */
  readonly id: string;
  readonly tenantId: string;
  /** E.164, or an email address. */
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

export interface Accepted {
  /** The channel's own name for the message, by which a receipt names it. */
  readonly providerId?: string;
}

/** A way for messages to leave. `send` resolves once the other side has taken responsibility, and rejects otherwise. */
export interface Channel {
  readonly name: string;
  readonly medium: Medium;
  send(message: OutboundMessage, signal: AbortSignal): Promise<Accepted>;
  /** Calls back when the other side says what became of a message. */
  onReceipt?(heard: (receipt: Receipt) => void): void;
  close(): Promise<void>;
}

export interface Receipt {
  readonly providerId: string;
  readonly delivered: boolean;
}

/** The other side will never take this message: trying again on this channel is of no use. */
export class ChannelRefused extends Error {
  override readonly name = "ChannelRefused";
}
