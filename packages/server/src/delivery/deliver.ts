import { randomUUID } from "node:crypto";
import { recordEvent } from "../journal/record.ts";
import type { Services } from "../services.ts";
import { spend } from "../store/budgets.ts";
import { claimDue, finish, noteReceipt, type OutboxRow, postpone } from "../store/outbox.ts";
import { otpCode } from "../tokens/otp-code.ts";
import { type Channel, ChannelRefused, type OutboundMessage } from "./channel.ts";
import { type Destination, findDestination } from "./destination.ts";
import { type Job, outboxPlace } from "./outbox.ts";
import { tenantSendRate } from "./send-budgets.ts";
import { composeMessage } from "./templates.ts";

export interface DeliveryOptions {
  readonly channels: readonly Channel[];
  readonly onError: (error: unknown) => void;
  readonly onOutcome: (outcome: DeliveryOutcome) => void;
}

/** What the metrics tell: never to whom. */
export interface DeliveryOutcome {
  readonly tenantId: string;
  readonly channel: string;
  readonly outcome: "sent" | "void" | "retry" | "failed" | "over_budget" | "delivered" | "undelivered";
}

export interface Delivery {
  /** Sends what is due now; resolves when it has been tried. */
  sendDue(): Promise<void>;
  stop(): Promise<void>;
}

const pollMs = 200;
const atOnce = 16;
/** Longer than a channel may take, so that nobody else takes a message that is still being sent. */
const claimSeconds = 45;
const sendTimeoutMs = 15_000;
const triesPerChannel = 2;

/** Sends the messages of the outbox from this node, beside all the others that do the same. */
export function startDelivery(services: Services, options: DeliveryOptions): Delivery {
  const node = randomUUID();
  const stopping = new AbortController();
  let current: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;

  for (const channel of options.channels) {
    channel.onReceipt?.(({ providerId, delivered }) => {
      noteReceipt(services.store, channel.name, providerId, delivered)
        .then((row) => {
          if (!row) return;
          const outcome = delivered ? "delivered" : "undelivered";
          options.onOutcome({ tenantId: row.tenant_id, channel: channel.name, outcome });
        })
        .catch(options.onError);
    });
  }

  async function sendDue(): Promise<void> {
    for (;;) {
      const rows = await claimDue(services.store, node, { most: atOnce, claimSeconds });
      await Promise.all(rows.map((row) => deliver(services, options, row, stopping.signal)));
      if (rows.length < atOnce || stopping.signal.aborted) return;
    }
  }

  function schedule(): void {
    if (stopping.signal.aborted) return;
    timer = setTimeout(() => {
      current = sendDue().catch(options.onError).finally(schedule);
    }, pollMs);
    timer.unref();
  }
  schedule();

  return {
    sendDue,
    async stop() {
      stopping.abort();
      clearTimeout(timer);
      await current;
      await Promise.all(options.channels.map((channel) => channel.close()));
    },
  };
}

async function deliver(
  services: Services,
  options: DeliveryOptions,
  row: OutboxRow,
  stopping: AbortSignal,
): Promise<void> {
  const { store } = services;
  const tell = (outcome: DeliveryOutcome["outcome"], channel = "") =>
    options.onOutcome({ tenantId: row.tenant_id, channel, outcome });
  try {
    if (row.expires_at <= services.clock.now()) {
      await store.transaction(async (tx) => {
        await finish(tx, row, "failed");
        await recordEvent(tx, { tenantId: row.tenant_id, type: "otp.undelivered", data: { medium: row.medium } });
      });
      return tell("failed");
    }
    const cipher = await services.dataKeys.cipher(row.tenant_id);
    const job = JSON.parse(cipher.open(outboxPlace(row.id), row.sealed_job)) as Job;
    const destination = await findDestination(store, cipher, job, row.medium as "sms" | "email");
    if (!destination) {
      await finish(store, row, "void");
      return tell("void");
    }
    await sendTo(services, options, row, destination, stopping, tell);
  } catch (error) {
    // Whatever it was, the message is not lost: its claim ends by itself and it is taken up again.
    options.onError(error);
  }
}

async function sendTo(
  services: Services,
  { channels, onError }: DeliveryOptions,
  row: OutboxRow,
  destination: Destination,
  stopping: AbortSignal,
  tell: (outcome: DeliveryOutcome["outcome"], channel?: string) => void,
): Promise<void> {
  const { store, keyring } = services;
  const tenant = await services.tenants.find(row.tenant_id);
  const usable = orderedChannels(channels, row.medium, tenant?.settings.delivery?.channels);
  const channel = usable[row.channel_index % Math.max(usable.length, 1)];
  if (!channel) {
    await finish(store, row, "failed");
    return tell("failed");
  }
  const policy = await services.tenants.policy(row.tenant_id);
  const rate = tenantSendRate(keyring.mac("index").secret, policy.otp, row.tenant_id);
  // A first try is paid for once; later ones of the same message are not counted again.
  if (row.attempts === 1 && (await store.transaction((tx) => spend(tx, rate))) !== null) {
    await finish(store, row, "failed");
    return tell("over_budget");
  }
  const message = await composeFor(services, row, destination);
  if (!message) {
    await finish(store, row, "void");
    return tell("void");
  }
  try {
    const signal = AbortSignal.any([AbortSignal.timeout(sendTimeoutMs), stopping]);
    const accepted = await channel.send(message, signal);
    await store.transaction(async (tx) => {
      if (!(await finish(tx, row, "sent", { channel: channel.name, ...accepted }))) return;
      await recordEvent(tx, { tenantId: row.tenant_id, type: "otp.sent", data: { channel: channel.name } });
    });
    tell("sent", channel.name);
  } catch (error) {
    onError(error);
    const exhausted = error instanceof ChannelRefused || row.attempts % triesPerChannel === 0;
    const moves = exhausted && usable.length > 1;
    const delayMs = moves ? 0 : Math.min(1000 * 2 ** Math.min(row.attempts - 1, 6), 60_000);
    await postpone(store, row, { delayMs, channelIndex: row.channel_index + (moves ? 1 : 0) });
    tell("retry", channel.name);
  }
}

/** The channels of a medium, in the tenant's order where it has one. */
function orderedChannels(channels: readonly Channel[], medium: string, order?: readonly string[]): Channel[] {
  const usable = channels.filter((channel) => channel.medium === medium);
  if (!order) return usable;
  return order.flatMap((name) => usable.filter((channel) => channel.name === name));
}

/** The message with its code; null where the code it was to carry is no longer alive. */
async function composeFor(
  { store, keyring, tenants, config, clock }: Services,
  row: OutboxRow,
  { address, language }: Destination,
): Promise<OutboundMessage | null> {
  const challenge = await store.db
    .selectFrom("otp_challenges")
    .select(["id", "tenant_id", "recipient", "purpose", "key_id", "expires_at"])
    .where("id", "=", row.challenge_id)
    .where("consumed_at", "is", null)
    .executeTakeFirst();
  const key = challenge && keyring.macById(challenge.key_id);
  const tenant = await tenants.find(row.tenant_id);
  if (!challenge || !key || !tenant) return null;
  const code = otpCode(key.secret, {
    challengeId: challenge.id,
    tenantId: challenge.tenant_id,
    recipient: challenge.recipient,
    purpose: challenge.purpose === "step-up" ? "step-up" : "sign-in",
  });
  const words = composeMessage({
    code,
    minutes: Math.max(1, Math.floor((challenge.expires_at - clock.now()) / 60_000)),
    name: tenant.name,
    host: tenant.settings.hosts[0] ?? new URL(config.baseUrl).hostname,
    medium: row.medium === "email" ? "email" : "sms",
    languages: [language, tenant.settings.delivery?.language],
    templates: tenant.settings.delivery?.templates,
  });
  return { id: row.id, tenantId: row.tenant_id, to: address, ...words };
}
