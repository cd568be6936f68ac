import { recordEvent } from "../journal/record.ts";
import type { Services } from "../services.ts";
import { type ClaimedRow, findSent, sendAgain, settleSent } from "../store/outbox.ts";
import type { Channel, Receipt } from "./channel.ts";
import { orderedChannels } from "./choose-channel.ts";
import { leastLifeMs } from "./next-try.ts";
import { isNotice } from "./outbox.ts";
import type { DeliveryOutcome } from "./outcome.ts";

export interface ReceiptOptions {
  readonly channels: readonly Channel[];
  readonly onError: (error: unknown) => void;
  readonly onOutcome: (outcome: DeliveryOutcome) => void;
}

/** A receipt can overtake the note that its message was sent: it is looked for again after these pauses. */
const pausesMs = [500, 2000, 8000];
const mostWaiting = 1000;

/** Listens to what channels say of messages that were sent; the result ends it. */
export function listenForReceipts(services: Services, options: ReceiptOptions): () => void {
  const waiting = new Set<NodeJS.Timeout>();
  let listening = true;

  function note(channel: Channel, receipt: Receipt, tries: number): void {
    if (!listening) return;
    noteReceipt(services, options, channel, receipt)
      .then((known) => {
        const pause = pausesMs[tries];
        if (known || !listening || pause === undefined || waiting.size >= mostWaiting) return;
        const timer = setTimeout(() => {
          waiting.delete(timer);
          note(channel, receipt, tries + 1);
        }, pause);
        timer.unref();
        waiting.add(timer);
      })
      .catch(options.onError);
  }

  for (const channel of options.channels) channel.onReceipt?.((receipt) => note(channel, receipt, 0));
  return () => {
    listening = false;
    for (const timer of waiting) clearTimeout(timer);
  };
}

/** False where no message of ours has that name. */
async function noteReceipt(
  services: Services,
  { channels, onOutcome }: ReceiptOptions,
  channel: Channel,
  { providerId, delivered }: Receipt,
): Promise<boolean> {
  const { store } = services;
  const row = await findSent(store, channel.name, providerId);
  if (!row) return false;
  if (delivered) await settleSent(store, row, "delivered");
  else if (await mayGoAnotherWay(services, channels, row)) await sendAgain(store, row);
  else {
    await store.transaction(async (tx) => {
      if (!(await settleSent(tx, row, "failed"))) return;
      const data = { medium: row.medium, channel: channel.name, reason: "receipt" };
      const type = isNotice(row) ? "notice.undelivered" : "otp.undelivered";
      await recordEvent(tx, { tenantId: row.tenant_id, type, data });
    });
  }
  onOutcome({
    tenantId: row.tenant_id,
    channel: channel.name,
    outcome: delivered ? "delivered" : "undelivered",
  });
  return true;
}

/** Whether a channel is left that was not tried, and time to try it. */
async function mayGoAnotherWay(services: Services, channels: readonly Channel[], row: ClaimedRow): Promise<boolean> {
  const tenant = await services.tenants.find(row.tenant_id);
  const usable = orderedChannels(channels, row.medium, tenant?.settings.delivery?.channels);
  return row.channel_index + 1 < usable.length && row.expires_at - row.now > leastLifeMs;
}
