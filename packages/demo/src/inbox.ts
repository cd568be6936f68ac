import type { Channel, OutboundMessage } from "@fieldgate/server";

/** A message that would have been an SMS or an email. */
export interface InboxMessage {
  readonly id: string;
  readonly to: string;
  readonly medium: Channel["medium"];
  readonly subject: string;
  readonly text: string;
  /** ISO 8601. */
  readonly at: string;
  /** The code in it; null where there is none. */
  readonly code: string | null;
}

/** Two channels that send nothing: what goes into them is kept for reading. */
export interface Inbox {
  readonly channels: readonly Channel[];
  /** The newest first. */
  messages(): readonly InboxMessage[];
}

const mostKept = 200;

/** For trying and for development alone: whoever reads it can sign in as anyone. Nothing outlives the process. */
export function createInbox(now: () => number = Date.now): Inbox {
  let kept: readonly InboxMessage[] = [];

  function channel(medium: Channel["medium"]): Channel {
    return {
      name: `inbox-${medium}`,
      medium,
      async send(message) {
        kept = [inboxMessage(message, medium, now()), ...kept].slice(0, mostKept);
        return { providerId: message.id };
      },
      async close() {},
    };
  }

  return { channels: [channel("sms"), channel("email")], messages: () => kept };
}

function inboxMessage(message: OutboundMessage, medium: Channel["medium"], at: number): InboxMessage {
  const { id, to, subject, text } = message;
  // The last line binds the code to its page: `@host #123456`.
  const code = /^@\S+ #(\d{6})$/m.exec(text)?.[1] ?? null;
  return { id, to, medium, subject, text, at: new Date(at).toISOString(), code };
}
