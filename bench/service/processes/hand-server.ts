import { once } from "node:events";
import type { Session } from "@fieldgate/contract";
import { createApp } from "../../../packages/server/src/app.ts";
import { answerTasks, cpuTime } from "../answer-tasks.ts";
import { openHandKeys } from "../hand/keys.ts";
import { openHandPostgres } from "../hand/postgres.ts";
import { createHandServer } from "../hand/refresh-server.ts";
import { openHandSqlite } from "../hand/sqlite.ts";
import { seedSessions, seedWorkers } from "../seed.ts";
import { type NodeSetup, serviceConfig } from "../service-config.ts";

/** The refresh endpoint written by hand, on a database that the service has filled before. */
const tasks = {
  async start(setup: NodeSetup & { readonly jkts: readonly (string | null)[] }): Promise<Session[]> {
    const app = await createApp(serviceConfig(setup));
    const workers = await seedWorkers(app.services, setup.jkts.length);
    const sessions = await seedSessions(app.services, workers, setup.jkts);
    const keys = await openHandKeys(app.services.store, setup.secret);
    await app.close();

    const { database } = setup;
    const hand =
      database.kind === "sqlite" ? openHandSqlite(database.file) : openHandPostgres(database.url, database.poolSize);
    const server = createHandServer(keys, hand, serviceConfig(setup).baseUrl);
    server.listen(setup.port, "127.0.0.1");
    await once(server, "listening");
    return sessions;
  },
  cpuTime,
};

export type HandServerTasks = typeof tasks;

answerTasks(tasks);
