import type { Pdu } from "smpp";
import type { Receipt } from "./channel.ts";

const receiptType = 0x04;
const typeMask = 0x3c;
/** `message_state` as SMPP 3.4 counts it, and its words in a receipt's text. What is missing is not final. */
const finalStates = new Map<number, boolean>([
  [2, true],
  [3, false],
  [4, false],
  [5, false],
  [8, false],
]);
const finalWords = new Map<string, boolean>([
  ["DELIVRD", true],
  ["EXPIRED", false],
  ["DELETED", false],
  ["UNDELIV", false],
  ["REJECTD", false],
]);

/** What a `deliver_sm` says of one of our messages; null for all else, and for what is not final. */
export function readReceipt(pdu: Pdu): Receipt | null {
  const isReceipt = ((pdu.esm_class ?? 0) & typeMask) === receiptType || pdu.receipted_message_id !== undefined;
  if (!isReceipt) return null;
  const message = pdu.short_message?.message ?? pdu.message_payload?.message ?? "";
  const text = typeof message === "string" ? message : message.toString("latin1");
  const providerId = pdu.receipted_message_id || /(?:^|\s)id:(\S+)/i.exec(text)?.[1];
  const word = /(?:^|\s)stat:([A-Z]+)/i.exec(text)?.[1]?.toUpperCase() ?? "";
  const delivered = pdu.message_state === undefined ? finalWords.get(word) : finalStates.get(pdu.message_state);
  return providerId === undefined || delivered === undefined ? null : { providerId, delivered };
}

/** Puts the receipts of a message's parts together: it has arrived with its last part, and failed with any of them. */
export interface PartReceipts {
  /** Expects the parts of a message; the result is told the name of each as it is taken. */
  expect(parts: number): (id: string) => void;
  heard(receipt: Receipt): Receipt | null;
}

interface Group {
  name: string | null;
  left: number;
}

const mostNames = 20_000;

export function createPartReceipts(): PartReceipts {
  const groups = new Map<string, Group>();
  return {
    expect(parts) {
      const group: Group = { name: null, left: parts };
      return (id) => {
        group.name ??= id;
        if (parts === 1) return;
        groups.set(id, group);
        // Receipts that never come must not pile up: the oldest are forgotten.
        const [oldest] = groups.size > mostNames ? groups.keys() : [];
        if (oldest !== undefined) groups.delete(oldest);
      };
    },
    heard(receipt) {
      const group = groups.get(receipt.providerId);
      // A message in one part, or one that another node sent.
      if (!group) return receipt;
      groups.delete(receipt.providerId);
      group.left -= 1;
      if (group.name === null || (receipt.delivered && group.left > 0)) return null;
      const { name } = group;
      // Said once: whatever the other parts do now is of no more interest.
      group.name = null;
      return { providerId: name, delivered: receipt.delivered };
    },
  };
}
