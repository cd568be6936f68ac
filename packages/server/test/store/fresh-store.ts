import { onTestFinished } from "vitest";
import { type Clock, systemClock } from "../../src/clock.ts";
import type { DatabaseConfig } from "../../src/config/config.ts";
import { openStore } from "../../src/store/open-store.ts";
import type { Store } from "../../src/store/store.ts";
import type { TestDatabase } from "../kit/databases.ts";

export interface FreshStore {
  readonly store: Store;
  readonly config: DatabaseConfig;
  /** One more node on the same database. */
  another(clock?: Clock): Promise<Store>;
}

/** A store on a database of its own; both are gone when the test is over. */
export async function freshStore(
  fresh: TestDatabase["fresh"],
  options: { clock?: Clock; empty?: boolean } = {},
): Promise<FreshStore> {
  const database = await fresh({ empty: options.empty ?? false });
  onTestFinished(() => database.drop());
  async function another(clock: Clock = systemClock): Promise<Store> {
    const store = await openStore(database.config, clock);
    onTestFinished(() => store.close());
    return store;
  }
  return { store: await another(options.clock), config: database.config, another };
}
