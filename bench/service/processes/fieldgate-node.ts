import type { Session } from "@fieldgate/contract";
import { type App, createApp } from "../../../packages/server/src/app.ts";
import { answerTasks, cpuTime } from "../answer-tasks.ts";
import { seedSessions, seedWorkers } from "../seed.ts";
import { type NodeSetup, serviceConfig } from "../service-config.ts";

/** The service under test, as `serve` runs it. */
let app: App | undefined;

const tasks = {
  /** Starts a node with one signed-in worker for each entry: bound to that key, or to none. */
  async start(setup: NodeSetup & { readonly jkts: readonly (string | null)[] }): Promise<Session[]> {
    app = await createApp(serviceConfig(setup));
    const workers = await seedWorkers(app.services, setup.jkts.length);
    const sessions = await seedSessions(app.services, workers, setup.jkts);
    await app.listen();
    return sessions;
  },
  cpuTime,
};

export type FieldgateNodeTasks = typeof tasks;

answerTasks(tasks, () => app?.close());
