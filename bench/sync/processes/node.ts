import { randomUUID } from "node:crypto";
import { type App, createApp } from "../../../packages/server/src/app.ts";
import { answerTasks } from "../../service/answer-tasks.ts";
import { seedSessions, seedWorkers } from "../../service/seed.ts";
import { type NodeSetup, serviceConfig } from "../../service/service-config.ts";

/** The service under test, as `serve` runs it. */
let app: App | undefined;
let token = "";
let url = "";

const tasks = {
  async start({ origin, ...setup }: NodeSetup & { readonly origin: string }): Promise<string> {
    const config = { ...serviceConfig(setup), corsOrigins: [origin] };
    app = await createApp(config);
    const workers = await seedWorkers(app.services, 1);
    const [session] = await seedSessions(app.services, workers, [null]);
    token = session?.token ?? "";
    await app.listen();
    url = config.baseUrl;
    return url;
  },

  /** How many events there are, and how many different ones. */
  async count(): Promise<{ events: number; different: number }> {
    const { db } = running().services.store;
    const { events, different } = await db
      .selectFrom("sync_events")
      .select(({ fn }) => [fn.countAll().as("events"), fn.count("id").distinct().as("different")])
      .executeTakeFirstOrThrow();
    return { events: Number(events), different: Number(different) };
  },

  /** Every row as it is stored. */
  async rows() {
    return running().services.store.db.selectFrom("sync_events").selectAll().orderBy("position").execute();
  },

  /** Pushes events as another device would. */
  async fill({ from, count }: { readonly from: number; readonly count: number }): Promise<void> {
    const deviceTime = new Date().toISOString();
    const events = Array.from({ length: count }, (_, n) => ({
      id: randomUUID(),
      entityId: randomUUID(),
      type: "create-individual",
      data: {
        names: { given: `Person ${from + n}`, family: "Of the benchmark" },
        village: "Kitui",
        notes: "x".repeat(100),
      },
      deviceTime,
      sequence: from + n + 1,
      baseVersion: 0,
    }));
    const response = await fetch(`${url}/api/sync/push`, {
      method: "POST",
      headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
      body: JSON.stringify({ deviceId: "another", events }),
    });
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  },
};

function running(): App {
  if (!app) throw new Error("The node was not started.");
  return app;
}

export type SyncNodeTasks = typeof tasks;

answerTasks(tasks, () => app?.close());
