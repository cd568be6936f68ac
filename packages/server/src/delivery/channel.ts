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
  /** How many messages the other side charges for; 1 where it does not say. */
  readonly parts?: number;
}

/**
 * A way for messages to leave. `send` resolves once the other side has taken responsibility, and rejects otherwise;
 * when the signal is aborted it lets go at once. Errors say what happened and never to whom: they are logged.
 */
export interface Channel {
  readonly name: string;
  readonly medium: Medium;
  /** How many messages it takes at the same time; 8 where it does not say. */
  readonly parallel?: number;
  /** Milliseconds a message may take; 15 s where it does not say. */
  readonly timeoutMs?: number;
  send(message: OutboundMessage, signal: AbortSignal): Promise<Accepted>;
  /** Calls back when the other side says what became of a message. */
  onReceipt?(heard: (receipt: Receipt) => void): void;
  /** How to read what the other side posts to us, where it does that instead. */
  readonly receipts?: PostedReceipts;
  /** Rejects with the reason where no message could leave now. Sends none. */
  verify?(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

export interface Receipt {
  readonly providerId: string;
  readonly delivered: boolean;
}

export interface PostedReceipts {
  /** Whoever knows it is the other side. */
  readonly secret: string;
  /** Null where it is no receipt. */
  read(body: unknown): Receipt | "on its way" | null;
}

/** The other side will never take this message: trying again on this channel is of no use. */
export class ChannelRefused extends Error {
  override readonly name = "ChannelRefused";
}

/** The other side asks us to be slower. */
export class ChannelBusy extends Error {
  override readonly name = "ChannelBusy";
  readonly retryAfterMs: number;

  constructor(message: string, retryAfterMs: number) {
    super(message);
    this.retryAfterMs = retryAfterMs;
  }
}
