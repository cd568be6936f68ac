import { systemClock } from "../../src/clock.ts";
import type { DatabaseConfig } from "../../src/config/config.ts";
import { sealBatch } from "../../src/journal/seal.ts";
import { verifyJournal } from "../../src/journal/verify.ts";
import { openStore } from "../../src/store/open-store.ts";

/** A process of its own, to be killed, or to be given little memory: `journal-child.ts seal|verify <database>`. */
const [, , task, database] = process.argv;
const store = await openStore(JSON.parse(database ?? "") as DatabaseConfig, systemClock);
switch (task) {
  case "seal":
    while ((await sealBatch(store, 100)).events > 0);
    break;
  case "verify": {
    const { ok, events, checked } = await store.snapshot((q) =>
      verifyJournal(q, { vault: null, checkpointSeconds: 60 }),
    );
    process.stdout.write(JSON.stringify({ ok, events, checked }));
  }
}
await store.close();
