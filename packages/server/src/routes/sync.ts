import { pushStatuses, type Route, routes } from "@fieldgate/contract";
import type { FastifyInstance } from "fastify";
import { createPullCounter } from "../flows/sync-budgets.ts";
import { type SyncCaller, syncCaller } from "../flows/sync-caller.ts";
import { pullEvents } from "../flows/sync-pull.ts";
import { pushEvents } from "../flows/sync-push.ts";
import { createSyncTurns } from "../flows/sync-turns.ts";
import { registerRoute } from "../http/route.ts";
import type { RouteContext } from "../http/route-context.ts";
import { problemOfItem } from "../http/strict-json.ts";
import type { Services } from "../services.ts";
import { verifyBearer } from "./request-inputs.ts";

/** What waits is small beside a body, and soon done: a device that reconnects is not sent away for that. */
const turns = (parallel: number) => ({ parallel, queue: 256, perSession: 8 });

export function registerSyncRoutes(app: FastifyInstance, services: Services): void {
  const { metrics } = app.httpSettings;
  const pushed = metrics.counter("fieldgate_sync_events_pushed_total", "Events that devices sent, by their result.", [
    "result",
  ]);
  const pulled = metrics.counter("fieldgate_sync_events_pulled_total", "Events that devices fetched.");
  for (const result of pushStatuses) pushed.inc({ result }, 0);

  const countPull = createPullCounter(services);
  const { parallel } = services.config.policy.sync;
  const [pushes, pulls] = [createSyncTurns(turns(parallel)), createSyncTurns(turns(parallel))];

  registerRoute(app, routes.syncPush, async (context) => {
    const caller = await callerOf(context);
    const { deviceId: claimedDevice, events } = context.body;
    const sent = events.map((event) => ({ event, problem: problemOfItem(event) }));
    const results = await pushes.run(caller, () => pushEvents(services, caller, { claimedDevice, events: sent }));
    for (const { status } of results) pushed.inc({ result: status });
    return { results };
  });

  registerRoute(app, routes.syncPull, async (context) => {
    const caller = await callerOf(context);
    const query = context.query(routes.syncPull.query);
    countPull(caller);
    const page = await pulls.run(caller, () => pullEvents(services, caller, query));
    pulled.inc(page.events.length);
    return page;
  });

  async function callerOf(context: RouteContext<Route>): Promise<SyncCaller> {
    return syncCaller(await verifyBearer(services, context));
  }
}
