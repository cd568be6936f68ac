/** Migrates the database of its argument, a `DatabaseConfig` as JSON. */
import { systemClock } from "../../../src/clock.ts";
import { openStore } from "../../../src/store/open-store.ts";

const store = await openStore(JSON.parse(process.argv[2] ?? ""), systemClock);
await store.migrate();
await store.close();
