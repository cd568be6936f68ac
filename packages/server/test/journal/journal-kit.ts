import { randomBytes, randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkpointFile } from "../../src/journal/checkpoint-file.ts";
import { type Sealer, type SealerLog, type SealerOptions, startSealer } from "../../src/journal/sealer.ts";
import { type Verification, type VerifyOptions, verifyJournal } from "../../src/journal/verify.ts";
import { openStore } from "../../src/store/open-store.ts";
import type { Store } from "../../src/store/store.ts";
import { createKeyVault, type KeyVault } from "../../src/tokens/key-vault.ts";
import { ensureKeys, keyPurposes } from "../../src/tokens/keys.ts";
import { MovableClock } from "../kit/clock.ts";
import type { FreshDatabase, TestDatabase } from "../kit/databases.ts";

/** What the deployment's own journal holds from the start: that its keys were made. */
export const eventsOfKeys = keyPurposes.length;

export interface JournalKit {
  readonly database: FreshDatabase;
  readonly clock: MovableClock;
  readonly store: Store;
  readonly secret: Uint8Array;
  readonly vault: KeyVault;
  readonly dataDir: string;
  readonly headFile: string;
  /** Error and warning messages of the sealers. */
  readonly complaints: string[];
  startSealer(options?: Partial<SealerOptions> & { store?: Store }): Sealer;
  /** Seals and signs everything, as a service does that is stopped in good order. */
  seal(): Promise<void>;
  verify(options?: Partial<VerifyOptions>): Promise<Verification>;
  openAnother(): Promise<Store>;
  close(): Promise<void>;
}

export async function openJournalKit({ fresh }: Pick<TestDatabase, "fresh">): Promise<JournalKit> {
  const database = await fresh();
  const clock = new MovableClock();
  const stores: Store[] = [];
  const openAnother = async () => {
    const store = await openStore(database.config, clock);
    stores.push(store);
    return store;
  };
  const store = await openAnother();
  const secret = randomBytes(32);
  const vault = createKeyVault(secret);
  await ensureKeys(store, vault);
  const dataDir = await mkdtemp(join(tmpdir(), "fieldgate-journal-"));
  const headFile = checkpointFile(dataDir);
  const complaints: string[] = [];
  const log: SealerLog = {
    info: () => {},
    warn: (_facts, message) => complaints.push(message),
    error: (facts, message) => complaints.push(`${message} ${"err" in facts ? String(facts.err) : ""}`),
  };

  const start: JournalKit["startSealer"] = ({ store: own = store, ...options } = {}) =>
    startSealer(own, vault, {
      clock,
      log,
      checkpointFile: headFile,
      sealSeconds: 3600,
      checkpointSeconds: 60,
      ...options,
    });

  return {
    database,
    clock,
    store,
    secret,
    vault,
    dataDir,
    headFile,
    complaints,
    startSealer: start,
    seal: () => start().stop(),
    verify: (options) => store.snapshot((q) => verifyJournal(q, { vault, checkpointSeconds: 60, ...options })),
    openAnother,
    async close() {
      for (const open of stores) await open.close();
      await database.drop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** Inserts many events at once, faster than one by one. */
export async function insertEvents(store: Store, tenantId: string, count: number): Promise<void> {
  for (let done = 0; done < count; done += 1000) {
    const rows = Array.from({ length: Math.min(1000, count - done) }, (_, index) => ({
      id: randomUUID(),
      tenant_id: tenantId,
      at: Date.now() - count + done + index,
      type: "login.succeeded",
      subject: `worker-${index % 7}`,
      session_id: index % 3 === 0 ? null : randomUUID(),
      data: JSON.stringify({ provider: "password", n: done + index }),
      seq: null,
      hash: null,
    }));
    await store.db.insertInto("journal_events").values(rows).execute();
  }
}

/** What a verification says, short enough to compare: kind, tenant and place of each error. */
export function errorsOf({ findings }: Verification): string[] {
  return findings.shown
    .filter((finding) => finding.severity === "error")
    .map((finding) => [finding.kind, finding.tenantId ?? "-", finding.seq ?? "-"].join(" "));
}
