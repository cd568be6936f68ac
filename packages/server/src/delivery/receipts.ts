import { recordEvent } from "../journal/record.ts";
import type { Services } from "../services.ts";
import { type ClaimedRow, findSent, sendAgain, settleSent } from "../store/outbox.ts";
import { sameText } from "../tokens/mac.ts";
import type { Channel, Receipt } from "./channel.ts";
import { orderedChannels } from "./choose-channel.ts";
import { leastLifeMs } from "./next-try.ts";
import { isNotice } from "./outbox.ts";
import type { DeliveryOutcome } from "./outcome.ts";

export interface DeliveryOptions {
  readonly channels: readonly Channel[];
  readonly onError: (error: unknown) => void;
  readonly onOutcome: (outcome: DeliveryOutcome) => void;
  /** Counts what gateways post, whatever it was worth. */
  readonly onReceipt?: (channel: string, result: ReceiptResult) => void;
}

export type ReceiptResult = "delivered" | "undelivered" | "on_its_way" | "unknown" | "unreadable";

export interface Receipts {
  /** Takes what a gateway has posted; false where there is no such channel, or that is not its secret. */
  post(channel: string, secret: string, body: unknown): Promise<boolean>;
  stop(): void;
}

/** A receipt can overtake the note that its message was sent: it is looked for again after these pauses. */
const pausesMs = [500, 2000, 8000];
const mostWaiting = 1000;

/** Listens to what channels say of messages that were sent. */
export function listenForReceipts(services: Services, options: DeliveryOptions): Receipts {
  const { channels, onError, onReceipt } = options;
  const waiting = new Set<NodeJS.Timeout>();
  let listening = true;

  function noteLater(channel: Channel, receipt: Receipt, tries: number): void {
    const pause = pausesMs[tries];
    if (!listening || pause === undefined || waiting.size >= mostWaiting) return;
    const timer = setTimeout(() => {
      waiting.delete(timer);
      note(channel, receipt, tries + 1);
    }, pause);
    timer.unref();
    waiting.add(timer);
  }

  function note(channel: Channel, receipt: Receipt, tries: number): void {
    if (!listening) return;
    noteReceipt(services, options, channel, receipt)
      .then((known) => known || noteLater(channel, receipt, tries))
      .catch(onError);
  }

  for (const channel of channels) channel.onReceipt?.((receipt) => note(channel, receipt, 0));
  return {
    async post(name, secret, body) {
      const channel = channels.find((each) => each.name === name);
      const posted = channel?.receipts;
      if (!channel || !posted || !sameText(posted.secret, secret)) return false;
      const receipt = posted.read(body);
      if (receipt === null || receipt === "on its way") {
        onReceipt?.(name, receipt === null ? "unreadable" : "on_its_way");
        return true;
      }
      // An outage is told to the gateway, which then posts it again.
      const known = await noteReceipt(services, options, channel, receipt);
      if (!known) noteLater(channel, receipt, 0);
      onReceipt?.(name, known ? (receipt.delivered ? "delivered" : "undelivered") : "unknown");
      return true;
    },
    stop() {
      listening = false;
      for (const timer of waiting) clearTimeout(timer);
    },
  };
}

/** False where no message of ours that is on its way has that name. */
async function noteReceipt(
  services: Services,
  { channels, onOutcome }: DeliveryOptions,
  channel: Channel,
  { providerId, delivered }: Receipt,
): Promise<boolean> {
  const row = await findSent(services.store, channel.name, providerId);
  if (!row) return false;
  const noted = delivered
    ? await settleSent(services.store, row, "delivered")
    : await noteFailure(services, channels, row);
  // Somebody was faster: a gateway that posts everything twice is counted once.
  if (noted) {
    onOutcome({
      tenantId: row.tenant_id,
      channel: channel.name,
      outcome: delivered ? "delivered" : "undelivered",
    });
  }
  return true;
}

async function noteFailure(services: Services, channels: readonly Channel[], row: ClaimedRow): Promise<boolean> {
  const { store } = services;
  if (await mayGoAnotherWay(services, channels, row)) return sendAgain(store, row);
  return store.transaction(async (tx) => {
    if (!(await settleSent(tx, row, "failed"))) return false;
    const data = { medium: row.medium, channel: row.channel ?? "", reason: "receipt" };
    const type = isNotice(row) ? "notice.undelivered" : "otp.undelivered";
    await recordEvent(tx, { tenantId: row.tenant_id, type, data });
    return true;
  });
}

/** Whether a channel is left that was not tried, and time to try it. */
async function mayGoAnotherWay(services: Services, channels: readonly Channel[], row: ClaimedRow): Promise<boolean> {
  const tenant = await services.tenants.find(row.tenant_id);
  const usable = orderedChannels(channels, row.medium, tenant?.settings.delivery?.channels);
  return row.channel_index + 1 < usable.length && row.expires_at - row.now > leastLifeMs;
}
