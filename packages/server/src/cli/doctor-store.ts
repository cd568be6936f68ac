import type { Clock } from "../clock.ts";
import type { Config } from "../config/config.ts";
import { sealerLease } from "../journal/sealer.ts";
import { findTenant } from "../people/tenants.ts";
import { migrations } from "../store/migrate.ts";
import type { Queries, Store } from "../store/store.ts";
import { type KeyVault, KeyVaultError } from "../tokens/key-vault.ts";
import { keyPurposes, listKeys, loadSecretKey, rotatingPurposes } from "../tokens/keys.ts";
import { schemaVersion } from "./database-state.ts";
import { bad, type Finding, ok, warn } from "./doctor-finding.ts";

/** It answers, has the right tables, and takes a write. */
export async function checkDatabase(store: Store): Promise<Finding[]> {
  await store.ping();
  const version = await schemaVersion(store);
  if (version < migrations.length) {
    const sentence = `The database has schema ${version}; this Fieldgate needs ${migrations.length}.`;
    return [bad("database", sentence, "Start the service with this version: it brings the schema up to date.")];
  }
  if (version > migrations.length) {
    const sentence = `The database has schema ${version}, made by a newer Fieldgate; this one knows ${migrations.length}.`;
    return [bad("database", sentence, "Use the newer version.")];
  }
  await store.transaction(async (tx) => {
    const row = { name: "doctor", value: "a write that is taken back" };
    await tx.db
      .insertInto("deployment")
      .values(row)
      .onConflict((clash) => clash.column("name").doNothing())
      .execute();
    await tx.db.deleteFrom("deployment").where("name", "=", row.name).execute();
  });
  return [
    ok(
      "database",
      `${store.kind === "postgres" ? "PostgreSQL" : "SQLite"} answers and takes writes, schema ${version}.`,
    ),
  ];
}

async function databaseTime(q: Queries): Promise<number> {
  const { now } = await q.db.selectNoFrom(q.now.as("now")).executeTakeFirstOrThrow();
  return Number(now);
}

/** Ages are measured by the database's clock, tokens by this machine's: they must agree. */
export async function checkClock(store: Store, clock: Clock): Promise<Finding[]> {
  const before = clock.now();
  const theirs = await databaseTime(store);
  const ours = (before + clock.now()) / 2;
  const seconds = Math.round(Math.abs(theirs - ours) / 1000);
  const remedy = "Let both machines follow the same time server (NTP).";
  if (seconds >= 30) return [bad("clock", `This machine's clock and the database's differ by ${seconds} s.`, remedy)];
  if (seconds >= 3) return [warn("clock", `This machine's clock and the database's differ by ${seconds} s.`, remedy)];
  return [ok("clock", "This machine and the database agree on the time.")];
}

/** Every key is there, opens with the secret and is not past its time. */
export async function checkKeys(store: Store, vault: KeyVault, config: Config, clock: Clock): Promise<Finding[]> {
  const keys = await listKeys(store);
  if (keys.length === 0)
    return [warn("keys", "There are no keys yet.", "They are made when the service first starts.")];
  const missing = keyPurposes.filter((purpose) => !keys.some((key) => key.purpose === purpose));
  if (missing.length > 0)
    return [bad("keys", `There is no key for ${missing.join(", ")}.`, "Restart the service: it makes them.")];
  try {
    for (const { id } of keys) await loadSecretKey(store, vault, id);
  } catch (error) {
    if (!(error instanceof KeyVaultError)) throw error;
    return [bad("keys", error.message, "Without the right FIELDGATE_SECRET no node can start.")];
  }
  const now = clock.now();
  const { life } = config.policy.keys;
  const findings = rotatingPurposes.flatMap((purpose) => {
    const newest = keys.findLast((key) => key.purpose === purpose);
    const days = newest ? Math.floor((now - newest.activeFrom) / 86_400_000) : 0;
    if (!newest || newest.activeFrom + life * 1000 > now) return [];
    const remedy = `A running service rotates it by itself; otherwise run: fieldgate keys rotate --purpose ${purpose}`;
    return [warn("keys", `The ${purpose} key has been in use for ${days} days, longer than keys.life.`, remedy)];
  });
  if (config.previousSecret !== null) {
    findings.push(
      warn("keys", "FIELDGATE_SECRET_PREVIOUS is set.", "Take it away when every node has the new secret."),
    );
  }
  return findings.length > 0 ? findings : [ok("keys", `All ${keys.length} keys open with the secret.`)];
}

/** Events are chained within a second while a node runs. */
export async function checkJournal(store: Store): Promise<Finding[]> {
  const now = await databaseTime(store);
  const { waiting } = await store.db
    .selectFrom("journal_events")
    .select((eb) => eb.fn.countAll<number>().as("waiting"))
    .where("seq", "is", null)
    .where("at", "<", now - 10_000)
    .executeTakeFirstOrThrow();
  if (Number(waiting) === 0) return [ok("journal", "Every event is sealed.")];
  const lease = await store.db
    .selectFrom("leases")
    .select("expires_at")
    .where("name", "=", sealerLease)
    .executeTakeFirst();
  const sentence = `${waiting} events older than 10 s wait to be sealed`;
  return lease && lease.expires_at > now
    ? [bad("journal", `${sentence}, though a node runs.`, "Look for journal errors in the log of the service.")]
    : [warn("journal", `${sentence}: no node seems to run.`, "Start the service: it seals them within a second.")];
}

export async function checkDefaultTenant(store: Store, { defaultTenant }: Config): Promise<Finding[]> {
  if (defaultTenant === null) return [];
  const tenant = await findTenant(store, defaultTenant);
  if (!tenant) {
    const remedy = `Run: fieldgate tenant add ${defaultTenant}`;
    return [bad("tenant", `FIELDGATE_DEFAULT_TENANT is ${defaultTenant}, and there is no such tenant.`, remedy)];
  }
  if (tenant.disabledAt !== null) {
    return [
      warn(
        "tenant",
        `The default tenant ${defaultTenant} is disabled.`,
        `Run: fieldgate tenant set ${defaultTenant} --enable`,
      ),
    ];
  }
  return [ok("tenant", `The default tenant ${defaultTenant} is there.`)];
}
