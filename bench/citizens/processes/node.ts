import { type App, createApp } from "../../../packages/server/src/app.ts";
import { answerTasks, cpuTime } from "../../service/answer-tasks.ts";
import { type NodeSetup, serviceConfig } from "../../service/service-config.ts";

/** The service under test, as `serve` runs it, on a database that is prepared. */
let app: App | undefined;

const tasks = {
  async start(setup: NodeSetup): Promise<void> {
    app = await createApp(serviceConfig(setup));
    await app.listen();
  },
  cpuTime,
};

export type NodeTasks = typeof tasks;

answerTasks(tasks, () => app?.close());
