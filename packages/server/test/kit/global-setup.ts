import type { TestProject } from "vitest/node";
import { systemClock } from "../../src/clock.ts";
import { openStore } from "../../src/store/open-store.ts";
import { startPostgres } from "./postgres-server.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The address of the server's own database, as its superuser. */
    postgresUrl: string;
  }
}

/** A database that has every table and no row: new ones are copied from it. */
export const templateDatabase = "fieldgate_template";

/** Starts one PostgreSQL server for the whole run. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startPostgres({ inMemory: true });
  await server.run(`create database ${templateDatabase}`);
  const store = await openStore({ kind: "postgres", url: server.url(templateDatabase), poolSize: 1 }, systemClock);
  await store.migrate();
  await store.close();
  project.provide("postgresUrl", server.url());
  return () => server.stop();
}
