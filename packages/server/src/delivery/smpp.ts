import { hash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { SmppConfig } from "../config/delivery-config.ts";
import { type Channel, ChannelBusy, ChannelRefused, type OutboundMessage, type Receipt } from "./channel.ts";
import { createSlots } from "./slots.ts";
import { statusText } from "./smpp-connection.ts";
import { keepBound } from "./smpp-link.ts";
import { createPartReceipts, readReceipt } from "./smpp-receipt.ts";
import { smsText } from "./sms-text.ts";

const throttled = new Set([0x14, 0x58]);
/** Statuses that will be the same next time: bad destination, length, sender, text, or a flat no. */
const permanent = new Set([0x01, 0x0a, 0x0b, 0x15, 0x48, 0x49, 0x50, 0x51, 0x65, 0x66, 0x101, 0x104]);
const headerFollows = 0x40;
const dataCoding = { gsm: 0x00, ucs2: 0x08 } as const;
/** How long a message waits for a connection before the next channel has its turn. */
const reconnectMs = 2500;
const busyMs = 5000;

/** SMS over SMPP 3.4: one connection that is kept, long texts in parts, receipts. */
export function createSmppChannel(config: SmppConfig): Channel {
  const { name } = config;
  const receipts = createPartReceipts();
  let heard: (receipt: Receipt) => void = () => {};
  const link = keepBound(config, (pdu) => {
    const read = readReceipt(pdu);
    const receipt = read && receipts.heard(read);
    if (receipt) heard(receipt);
  });
  const window = createSlots(config.parallel);
  let quietUntil = 0;

  /** Submits one part; being throttled holds back every part of every message for a moment. */
  async function submit(fields: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<string> {
    for (let pauseMs = 250; ; pauseMs = Math.min(pauseMs * 2, 4000)) {
      await quiet(signal);
      const connection = await link.bound(AbortSignal.any([signal, AbortSignal.timeout(reconnectMs)]));
      const answer = await connection.ask("submit_sm", fields, signal);
      const { command_status: status } = answer;
      if (status === 0) return inDecimal(answer.message_id ?? "");
      if (permanent.has(status)) throw new ChannelRefused(`${name} refused a message: status ${statusText(answer)}.`);
      if (!throttled.has(status)) throw new Error(`${name} took no message: status ${statusText(answer)}.`);
      quietUntil = Math.max(quietUntil, performance.now() + pauseMs);
    }
  }

  async function quiet(signal: AbortSignal): Promise<void> {
    while (quietUntil > performance.now()) {
      await sleep(quietUntil - performance.now(), undefined, { signal }).catch(() => {
        throw new ChannelBusy(`${name} asks us to be slower.`, busyMs);
      });
    }
  }

  const inDecimal = (id: string) =>
    config.messageIds === "hex" && /^[0-9a-f]+$/i.test(id) ? BigInt(`0x${id}`).toString() : id;

  return {
    name,
    medium: "sms",
    parallel: config.parallel,
    timeoutMs: config.timeoutMs,
    async send(message, signal) {
      const { alphabet, parts } = smsText(message.text, referenceOf(message));
      const taken = receipts.expect(parts.length);
      const release = await window.take(signal);
      try {
        let providerId: string | undefined;
        for (const [index, part] of parts.entries()) {
          const fields = {
            source_addr: config.from.address,
            source_addr_ton: config.from.ton,
            source_addr_npi: config.from.npi,
            // International, as E.164 counts.
            dest_addr_ton: 1,
            dest_addr_npi: 1,
            destination_addr: message.to.replace(/^\+/, ""),
            esm_class: parts.length > 1 ? headerFollows : 0,
            registered_delivery: 1,
            data_coding: dataCoding[alphabet],
            short_message: part,
          };
          const id = index === 0 ? await submit(fields, signal) : await insist(() => submit(fields, signal), signal);
          if (id !== "") taken(id);
          providerId ??= id === "" ? undefined : id;
        }
        return { parts: parts.length, ...(providerId !== undefined && { providerId }) };
      } finally {
        release();
      }
    },
    onReceipt(listener) {
      heard = listener;
    },
    async verify(signal) {
      await link.bound(signal);
    },
    close: () => link.close(),
  };
}

/** Half a message is worse than none: once it is begun, a part that was lost is sent again as long as there is time. */
async function insist<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (signal.aborted || error instanceof ChannelRefused || error instanceof ChannelBusy) throw error;
      await sleep(200, undefined, { signal });
    }
  }
}

/** The same for each try of one message, so that parts of two tries fit together. */
function referenceOf({ id }: OutboundMessage): number {
  return hash("sha256", id, "buffer").readUInt8(0);
}
