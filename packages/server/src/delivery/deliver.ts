import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Services } from "../services.ts";
import { claimDue } from "../store/outbox.ts";
import { createLanes } from "./lanes.ts";
import type { Medium } from "./outbox.ts";
import { type DeliveryOptions, listenForReceipts, type Receipts } from "./receipts.ts";
import { deliverMessage, type Post } from "./send-message.ts";
import { createWaitingTenants } from "./waiting-tenants.ts";

export interface Delivery {
  /** Takes what a gateway has posted. */
  readonly receipts: Pick<Receipts, "post">;
  /** Finishes what is being sent, or gives it back for other nodes; then closes the channels. */
  stop(): Promise<void>;
}

const media: readonly Medium[] = ["sms", "email"];
const pollMs = 200;
/** Messages end one by one; taking the next ones together costs one write instead of many. */
const gatherMs = 10;
/** Longer than a channel may take, so that nobody else takes a message that is still being sent. */
const claimSeconds = 45;
/** The longest that a stop waits for what is being sent before it is cut off. */
const longestGraceMs = 3000;

/** Sends the messages of the outbox from this node, beside all the others that do the same. */
export function startDelivery(services: Services, options: DeliveryOptions): Delivery {
  const node = randomUUID();
  const stopping = new AbortController();
  const cut = new AbortController();
  const graceMs = Math.min(services.config.policy.http.grace * 1000, longestGraceMs);
  const lanes = createLanes(options.channels, services.clock.monotonic);
  const post: Post = {
    ...options,
    services,
    lanes,
    claimMs: claimSeconds * 1000,
    cut: cut.signal,
    unnoted: new Map(),
  };
  const waiting = new Map(media.map((medium) => [medium, createWaitingTenants(services.clock.monotonic)]));
  const inHand = new Map<Medium, Set<Promise<void>>>(media.map((medium) => [medium, new Set()]));
  const receipts = listenForReceipts(services, options);
  let wake = () => {};

  /** Takes what there is room for; true where there may be more. */
  async function claim(medium: Medium): Promise<boolean> {
    const own = inHand.get(medium) ?? new Set();
    const tenants = waiting.get(medium);
    const most = lanes.capacity(medium) - own.size;
    if (most <= 0) return true;
    const exceptTenants = tenants?.list() ?? [];
    const rows = await claimDue(services.store, node, { medium, most, claimSeconds, exceptTenants });
    for (const row of rows) {
      const journey = deliverMessage(post, row)
        .then((end) => {
          if (end && "waitsFor" in end) tenants?.add(row.tenant_id, end.waitsFor);
          else if (end) tenants?.freed(end.freed);
        })
        // Whatever it was, the message is not lost: its claim ends by itself and it is taken up again.
        .catch(options.onError)
        .finally(() => {
          own.delete(journey);
          wake();
        });
      own.add(journey);
    }
    return rows.length === most;
  }

  async function work(): Promise<void> {
    while (!stopping.signal.aborted) {
      // Made before the look, so that whatever ends during it is noticed.
      const ended = new Promise<void>((resolve) => {
        wake = resolve;
      });
      let more = false;
      try {
        for (const medium of media) if (await claim(medium)) more = true;
      } catch (error) {
        options.onError(error);
      }
      const rest = sleep(pollMs, undefined, { signal: stopping.signal, ref: false }).catch(() => {});
      await (more ? Promise.race([ended.then(() => sleep(gatherMs)), rest]) : rest);
    }
  }

  const working = work();
  return {
    receipts,
    async stop() {
      stopping.abort();
      await working;
      const journeys = Promise.all([...inHand.values()].flatMap((own) => [...own]));
      await Promise.race([journeys, sleep(graceMs, undefined, { ref: false })]);
      cut.abort(new Error("The node stops."));
      await journeys;
      receipts.stop();
      await Promise.all(options.channels.map((channel) => channel.close()));
    },
  };
}
