import { setTimeout as sleep } from "node:timers/promises";
import { recordEvent } from "../journal/record.ts";
import type { Services } from "../services.ts";
import { type ClaimedRow, finish, giveBack, postpone } from "../store/outbox.ts";
import { StoreUnavailable } from "../store/store.ts";
import type { Accepted, Channel } from "./channel.ts";
import { chooseChannel, type Lane, orderedChannels } from "./choose-channel.ts";
import { composeFor } from "./compose.ts";
import { type Destination, findDestination } from "./destination.ts";
import type { Lanes } from "./lanes.ts";
import { leastLifeMs, nextTry } from "./next-try.ts";
import { isNotice, type Job, type Medium, outboxPlace } from "./outbox.ts";
import type { DeliveryOutcome } from "./outcome.ts";
import { payForMessage } from "./pay.ts";
import { untilAborted } from "./until-aborted.ts";

/** What one node sends messages with. */
export interface Post {
  readonly services: Services;
  readonly channels: readonly Channel[];
  readonly lanes: Lanes;
  /** Milliseconds for which a claim holds. */
  readonly claimMs: number;
  /** Cuts off what is being sent when the node stops. */
  readonly cut: AbortSignal;
  /** What left but could not be noted, the database being away: it must not leave again. */
  readonly unnoted: Map<string, Departure>;
  readonly onError: (error: unknown) => void;
  readonly onOutcome: (outcome: DeliveryOutcome) => void;
}

export interface Departure {
  readonly channel: string;
  readonly channelIndex: number;
  readonly accepted: Accepted;
}

const defaultTimeoutMs = 15_000;
const mostUnnoted = 10_000;

/** A channel that had no room for the message, which was given back; or one that has room again. */
export type End = { readonly waitsFor: string } | { readonly freed: string } | null;

/** Takes a claimed message as far as it gets now. */
export async function deliverMessage(post: Post, row: ClaimedRow): Promise<End> {
  const { services } = post;
  const claimedAt = services.clock.monotonic();
  const departure = post.unnoted.get(row.id);
  if (departure) return noteDeparture(post, row, departure);
  if (row.expires_at - row.now <= leastLifeMs) return giveUp(post, row, "expired");

  const cipher = await services.dataKeys.cipher(row.tenant_id);
  const job = JSON.parse(cipher.open(outboxPlace(row.id), row.sealed_job)) as Job;
  const destination = await findDestination(services.store, cipher, job, row.medium as Medium);
  if (!destination) return toNobody(post, row);

  const tenant = await services.tenants.find(row.tenant_id);
  const usable = orderedChannels(post.channels, row.medium, tenant?.settings.delivery?.channels);
  if (usable.length === 0) {
    post.onError(new Error(`The tenant ${row.tenant_id} has no channel for ${row.medium}: messages are lost.`));
    return giveUp(post, row, "no_channel");
  }
  const lane = chooseChannel(post.lanes, usable, row.channel_index);
  if (!lane) {
    await giveBack(services.store, row);
    return { waitsFor: usable[row.channel_index % usable.length]?.name ?? "" };
  }
  try {
    await sendOn(post, row, { lane, destination, claimedAt, channels: usable.length });
  } finally {
    lane.release();
  }
  return { freed: lane.channel.name };
}

interface Leg {
  readonly lane: Lane;
  readonly destination: Destination;
  readonly claimedAt: number;
  readonly channels: number;
}

async function sendOn(post: Post, row: ClaimedRow, leg: Leg): Promise<null> {
  const { services, cut } = post;
  const { channel, channelIndex } = leg.lane;
  const elapsedMs = () => services.clock.monotonic() - leg.claimedAt;
  const timeoutMs = channel.timeoutMs ?? defaultTimeoutMs;
  // A first try is paid for; later ones of the same message are not counted again.
  const refusal = row.attempts === 1 ? await payForMessage(services, row.tenant_id, leg.destination.address) : null;
  if (refusal) return giveUp(post, row, refusal, channel.name);
  const message = await composeFor(services, row, leg.destination);
  if (!message) return toNobody(post, row);
  // After a long wait for the database another node may be about to take the message: then it is theirs.
  if (elapsedMs() + timeoutMs > post.claimMs) return null;

  let accepted: Accepted;
  try {
    const signal = AbortSignal.any([AbortSignal.timeout(timeoutMs), cut]);
    accepted = await untilAborted(channel.send(message, signal), signal);
  } catch (error) {
    post.onError(error);
    const leftMs = row.expires_at - row.now - elapsedMs();
    const tried = { attempts: row.attempts, channelIndex, channels: leg.channels, leftMs };
    const next = cut.aborted ? { delayMs: 0, channelIndex } : nextTry(error, tried);
    if (!next) return giveUp(post, row, "undeliverable", channel.name);
    await postpone(services.store, row, next);
    post.onOutcome({ tenantId: row.tenant_id, channel: channel.name, outcome: "retry" });
    return null;
  }
  return noteDeparture(post, row, { channel: channel.name, channelIndex, accepted });
}

/** Notes that a message left. Without that note it would leave again, so it is tried for a while. */
async function noteDeparture(post: Post, row: ClaimedRow, departure: Departure): Promise<null> {
  const { store } = post.services;
  const { channel, channelIndex, accepted } = departure;
  const { providerId } = accepted;
  if (post.unnoted.size < mostUnnoted) post.unnoted.set(row.id, departure);
  for (let pauseMs = 250; ; pauseMs *= 2) {
    try {
      await store.transaction(async (tx) => {
        const by = { channel, channelIndex, ...(providerId !== undefined && { providerId }) };
        if (!(await finish(tx, row, "sent", by))) return;
        await recordEvent(tx, {
          tenantId: row.tenant_id,
          type: isNotice(row) ? "notice.sent" : "otp.sent",
          data: { channel },
        });
      });
      break;
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || pauseMs > 8000 || post.cut.aborted) throw error;
      await sleep(pauseMs, undefined, { ref: false });
    }
  }
  post.unnoted.delete(row.id);
  post.onOutcome({ tenantId: row.tenant_id, channel, outcome: "sent", parts: accepted.parts ?? 1 });
  return null;
}

/** Nobody has the address, or the code is used up: there is nothing to send. */
async function toNobody({ services, onOutcome }: Post, row: ClaimedRow): Promise<null> {
  await finish(services.store, row, "void");
  onOutcome({ tenantId: row.tenant_id, channel: "", outcome: "void" });
  return null;
}

type Reason = "expired" | "no_channel" | "undeliverable" | "over_budget" | "over_prefix_budget";

async function giveUp(post: Post, row: ClaimedRow, reason: Reason, channel = ""): Promise<null> {
  await post.services.store.transaction(async (tx) => {
    if (!(await finish(tx, row, "failed", channel === "" ? {} : { channel }))) return;
    await recordEvent(tx, {
      tenantId: row.tenant_id,
      type: isNotice(row) ? "notice.undelivered" : "otp.undelivered",
      data: { medium: row.medium, reason },
    });
  });
  const spent = reason === "over_budget" || reason === "over_prefix_budget";
  post.onOutcome({ tenantId: row.tenant_id, channel, outcome: spent ? reason : "failed" });
  return null;
}
