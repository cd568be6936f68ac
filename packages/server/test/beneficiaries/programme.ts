import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../../src/clock.ts";
import type { DatabaseConfig } from "../../src/config/config.ts";
import type { Beneficiary } from "../../src/people/beneficiary.ts";
import { createDataKeys, type DataKeys, type TenantCipher } from "../../src/people/data-keys.ts";
import { addTenant } from "../../src/people/tenants.ts";
import { findByExternalId } from "../../src/store/beneficiaries.ts";
import { pageOfBeneficiaries } from "../../src/store/beneficiary-lists.ts";
import { openStore } from "../../src/store/open-store.ts";
import type { Store } from "../../src/store/store.ts";
import { createKeyVault } from "../../src/tokens/key-vault.ts";
import { ensureKeys } from "../../src/tokens/keys.ts";
import { CommandLine, databaseUrl } from "../kit/command-line.ts";
import type { TestDatabase } from "../kit/databases.ts";
import { testSecret } from "../kit/node.ts";

export interface ImportAnswer {
  readonly rows: number;
  readonly added: number;
  readonly changed: number;
  readonly unchanged: number;
  readonly rejected: number;
  readonly warnings: number;
  readonly rejects: string | null;
  readonly importId: string;
}

/** A deployment with the tenant `demo`, and its command line. A node of `startNode` can run on the same database. */
export class Programme {
  readonly line: CommandLine;
  readonly config: DatabaseConfig;
  readonly store: Store;
  readonly dataKeys: DataKeys;
  readonly #drop: () => Promise<void>;

  private constructor(config: DatabaseConfig, store: Store, drop: () => Promise<void>) {
    this.config = config;
    this.store = store;
    this.#drop = drop;
    this.dataKeys = createDataKeys(store, createKeyVault(testSecret), systemClock);
    this.line = new CommandLine({
      FIELDGATE_BASE_URL: "https://id.example.org",
      FIELDGATE_SECRET: testSecret.toString("base64"),
      FIELDGATE_DATABASE_URL: databaseUrl(config),
      FIELDGATE_DEFAULT_TENANT: "demo",
    });
  }

  static async open({ fresh }: TestDatabase, settings: object = {}): Promise<Programme> {
    const database = await fresh();
    const store = await openStore(database.config, systemClock);
    await ensureKeys(store, createKeyVault(testSecret));
    await store.transaction((tx) =>
      addTenant(
        tx,
        { id: "demo", name: "Demo", settings: { defaultCountry: "KE", ...settings } },
        { loopbackHttp: true },
      ),
    );
    return new Programme(database.config, store, database.drop);
  }

  async close(): Promise<void> {
    await this.store.close();
    this.line.remove();
    await this.#drop();
  }

  path(name: string): string {
    return join(this.line.cwd, name);
  }

  write(name: string, lines: readonly string[] | Uint8Array): string {
    writeFileSync(this.path(name), lines instanceof Uint8Array ? lines : `${lines.join("\n")}\n`);
    return name;
  }

  read(name: string): string {
    return readFileSync(this.path(name), "utf8");
  }

  /** Imports without a process of its own, and gives the answer whether or not rows were rejected. */
  async import(args: readonly string[], input?: string): Promise<ImportAnswer> {
    const outcome = await this.line.runHere(["beneficiary", "import", ...args, "--json"], {
      ...(input !== undefined && { input }),
    });
    if (outcome.stdout === "") throw new Error(outcome.stderr);
    return JSON.parse(outcome.stdout) as ImportAnswer;
  }

  cipher(): Promise<TenantCipher> {
    return this.dataKeys.cipher("demo");
  }

  async person(externalId: string): Promise<Beneficiary> {
    const person = await findByExternalId(this.store, await this.cipher(), externalId);
    if (!person) throw new Error(`There is no ${externalId}.`);
    return person;
  }

  async everyone(): Promise<Beneficiary[]> {
    return pageOfBeneficiaries(this.store, await this.cipher(), { after: null, limit: 100_000 });
  }

  async events(type: string): Promise<{ readonly subject: string | null; readonly data: Record<string, unknown> }[]> {
    const rows = await this.store.db
      .selectFrom("journal_events")
      .select(["subject", "data"])
      .where("type", "=", type)
      .orderBy("at")
      .execute();
    return rows.map(({ subject, data }) => ({ subject, data: JSON.parse(data) }));
  }
}

/** The lines of a CSV file with so many made-up people. */
export function manyPeople(count: number, from = 0): string[] {
  const rows = Array.from({ length: count }, (_, index) => {
    const n = from + index;
    const day = String(1 + (n % 28)).padStart(2, "0");
    return `P-${n},Given${n},Family${n},19${50 + (n % 40)}-05-${day},+2547${String(10_000_000 + n)},p${n}@example.org,nid:${1_000_000 + n}`;
  });
  return ["external_id,given_name,family_name,date_of_birth,phones,emails,national_ids", ...rows];
}
