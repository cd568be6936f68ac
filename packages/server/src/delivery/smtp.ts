import addressparser from "nodemailer/lib/addressparser";
import MailComposer from "nodemailer/lib/mail-composer";
import type { SmtpConfig } from "../config/delivery-config.ts";
import type { Channel, OutboundMessage } from "./channel.ts";
import { ChannelRefused } from "./channel.ts";
import { MailConnection } from "./mail-connection.ts";
import { createSlots } from "./slots.ts";

/** Servers end silent connections after some minutes; we are earlier. */
const idleMs = 60_000;

/** Email over SMTP, with connections that are kept for the next message. */
export function createSmtpChannel(config: SmtpConfig): Channel {
  const slots = createSlots(config.parallel);
  const idle = new Map<MailConnection, NodeJS.Timeout>();
  const from = senderOf(config.from);
  let closed = false;

  async function connection(signal: AbortSignal): Promise<MailConnection> {
    for (const [kept, timer] of idle) {
      idle.delete(kept);
      clearTimeout(timer);
      if (kept.isOver) continue;
      try {
        await kept.reset(signal);
        return kept;
      } catch (error) {
        if (signal.aborted) throw error;
        // The server has ended it meanwhile, which is its right.
      }
    }
    return MailConnection.open(config, signal);
  }

  function keep(used: MailConnection): void {
    if (closed) {
      used.quit();
      return;
    }
    const timer = setTimeout(() => {
      idle.delete(used);
      used.quit();
    }, idleMs);
    timer.unref();
    idle.set(used, timer);
  }

  return {
    name: config.name,
    medium: "email",
    parallel: config.parallel,
    timeoutMs: config.timeoutMs,
    async send(message, signal) {
      const release = await slots.take(signal);
      try {
        const used = await connection(signal);
        try {
          await used.send({ from: from.address, to: message.to }, compose(from, message), signal);
        } catch (error) {
          if (error instanceof ChannelRefused && !used.isOver) keep(used);
          throw error;
        }
        keep(used);
        return { providerId: messageIdOf(from, message) };
      } finally {
        release();
      }
    },
    async verify(signal) {
      (await MailConnection.open(config, signal)).quit();
    },
    async close() {
      closed = true;
      for (const [kept, timer] of idle) {
        clearTimeout(timer);
        kept.quit();
      }
      idle.clear();
    },
  };
}

interface Sender {
  readonly name: string;
  readonly address: string;
}

function senderOf(text: string): Sender {
  const [sender] = addressparser(text, { flatten: true });
  return { name: sender?.name ?? "", address: sender?.address ?? text };
}

/** The same for each try: whoever gets the message twice can tell. */
function messageIdOf({ address }: Sender, { id }: OutboundMessage): string {
  return `<${id}@${address.slice(address.lastIndexOf("@") + 1)}>`;
}

function compose(from: Sender, message: OutboundMessage) {
  return new MailComposer({
    from,
    to: { name: "", address: message.to },
    subject: message.subject,
    text: message.text,
    messageId: messageIdOf(from, message),
    // No out-of-office note in return.
    headers: { "Auto-Submitted": "auto-generated", "X-Auto-Response-Suppress": "All" },
    disableFileAccess: true,
    disableUrlAccess: true,
  })
    .compile()
    .createReadStream();
}
