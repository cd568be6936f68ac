import { once } from "node:events";
import { systemClock } from "../../../packages/server/src/clock.ts";
import { openStore } from "../../../packages/server/src/store/open-store.ts";
import { answerTasks, cpuTime } from "../../service/answer-tasks.ts";
import { type NodeSetup, serviceConfig, tenantId } from "../../service/service-config.ts";
import { openCitizenKeys } from "../hand/keys.ts";
import { openHandPostgres } from "../hand/postgres.ts";
import { createHandServer } from "../hand/server.ts";
import { openHandSqlite } from "../hand/sqlite.ts";

/** Both ways in written by hand, on a database that is prepared. */
const tasks = {
  async start(setup: NodeSetup): Promise<void> {
    const { database } = setup;
    const store = await openStore(database, systemClock);
    const keys = await openCitizenKeys(store, setup.secret, tenantId);
    await store.close();

    const hand =
      database.kind === "sqlite" ? openHandSqlite(database.file) : openHandPostgres(database.url, database.poolSize);
    const server = createHandServer(keys, hand, serviceConfig(setup).baseUrl);
    server.listen(setup.port, "127.0.0.1");
    await once(server, "listening");
  },
  cpuTime,
};

export type HandServerTasks = typeof tasks;

answerTasks(tasks);
