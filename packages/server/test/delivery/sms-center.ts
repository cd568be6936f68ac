import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createServer, PDU, type Pdu, type Session } from "smpp";

export interface Submitted {
  readonly id: string;
  readonly pdu: Pdu;
  readonly session: Session;
}

/** A real SMSC on a loopback port, which can be told to misbehave. */
export interface SmsCenter {
  readonly port: number;
  /** Every part that was submitted, whether it was taken or not. */
  readonly submitted: Submitted[];
  /** How often someone tried to bind, and how many parts waited for an answer at once. */
  readonly seen: { binds: number; enquiries: number; waiting: number; mostWaiting: number };
  /** The status of the answer to a bind. */
  bindStatus: number;
  /** The answer to a part: its status, or `hang`, or `drop`. */
  onSubmit: (pdu: Pdu, index: number) => number | "hang" | "drop";
  /** Milliseconds before an answer. */
  delayMs: number;
  /** Names of messages: by default, a number that counts up. */
  nameOf: (index: number) => string;
  /** Answers enquire_link. */
  isAlive: boolean;
  /** Tells what became of a message. */
  receipt(id: string, stat: string, fields?: Readonly<Record<string, unknown>>): void;
  /** Sends something else to whoever is bound. */
  send(command: string, fields: Readonly<Record<string, unknown>>): void;
  hangUp(): void;
  stop(): Promise<void>;
}

export async function startSmsCenter(
  options: { readonly key?: string; readonly cert?: string } = {},
): Promise<SmsCenter> {
  const sessions = new Set<Session>();
  const server = createServer(options, (session) => {
    sessions.add(session);
    session.on("error", () => {});
    session.on("close", () => sessions.delete(session));
    session.on("bind_transceiver", (pdu: Pdu) => {
      center.seen.binds += 1;
      session.send(pdu.response({ command_status: center.bindStatus }));
    });
    session.on("enquire_link", (pdu: Pdu) => {
      center.seen.enquiries += 1;
      if (center.isAlive) session.send(pdu.response());
    });
    session.on("unbind", (pdu: Pdu) => {
      session.send(pdu.response());
      session.close();
    });
    session.on("submit_sm", (pdu: Pdu) => take(session, pdu));
  });

  function take(session: Session, pdu: Pdu): void {
    const index = center.submitted.length;
    const id = center.nameOf(index);
    center.submitted.push({ id, pdu, session });
    const answer = center.onSubmit(pdu, index);
    if (answer === "drop") {
      session.destroy();
      return;
    }
    center.seen.waiting += 1;
    center.seen.mostWaiting = Math.max(center.seen.mostWaiting, center.seen.waiting);
    if (answer === "hang") return;
    setTimeout(() => {
      center.seen.waiting -= 1;
      session.send(pdu.response({ command_status: answer, message_id: id }));
    }, center.delayMs);
  }

  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const center: SmsCenter = {
    port: (server.address() as AddressInfo).port,
    submitted: [],
    seen: { binds: 0, enquiries: 0, waiting: 0, mostWaiting: 0 },
    bindStatus: 0,
    onSubmit: () => 0,
    delayMs: 0,
    nameOf: (index) => String(1000 + index),
    isAlive: true,
    receipt(id, stat, fields = {}) {
      const text = `id:${id} sub:001 dlvrd:001 submit date:2601010101 done date:2601010102 stat:${stat} err:000 text:`;
      center.send("deliver_sm", { esm_class: 0x04, short_message: text, ...fields });
    },
    send(command, fields) {
      for (const session of sessions) session.send(new PDU(command, fields));
    },
    hangUp() {
      for (const session of sessions) session.destroy();
    },
    async stop() {
      center.hangUp();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
  return center;
}

/** The whole text of a message from its parts, as a phone puts it together. */
export function reassemble(parts: readonly Submitted[]): string {
  return parts
    .map(({ pdu }) => {
      const [header] = pdu.short_message?.udh ?? [];
      const message = pdu.short_message?.message;
      if (typeof message !== "string") throw new Error("The text could not be read.");
      return { number: header?.[4] ?? 1, message };
    })
    .sort((a, b) => a.number - b.number)
    .map(({ message }) => message)
    .join("");
}
