import type { Queries } from "../store/store.ts";
import type { KeyVault } from "../tokens/key-vault.ts";
import { collectFindings, type FindingCollector, type FindingList } from "./finding.ts";
import { type KeptCheckpoints, measureFiles, readKeptCheckpoints, readKeptKeys } from "./kept-checkpoints.ts";
import { type GivenKey, type TrustedKeys, trustDatabaseKeys } from "./key-trust.ts";
import { readJournal } from "./read-journal.ts";
import type { JournalRecord } from "./record-stream.ts";
import { createTenantCheck, type TenantCheck, type UnsignedTail } from "./tenant-check.ts";
import { checkUnsealed, countSealed, createTailJudge } from "./verify-tail.ts";

export interface VerifyOptions {
  /** Opens the journal keys; without it a key is only as good as what is given beside. */
  readonly vault: KeyVault | null;
  /** Only this tenant's journal. */
  readonly tenantId?: string | undefined;
  /** Files of checkpoints that were kept outside the database. */
  readonly headFiles?: readonly string[];
  /** Public keys that were kept outside the database. Without a vault no other key is believed. */
  readonly publicKeys?: readonly GivenKey[];
  /** Seconds between checkpoints, as the service is configured. */
  readonly checkpointSeconds: number;
}

export interface Verification {
  /** Nothing was found but warnings. */
  readonly ok: boolean;
  readonly tenants: number;
  readonly events: number;
  readonly checkpoints: number;
  /** Checkpoints in the files that were given. */
  readonly keptCheckpoints: number;
  readonly unsealed: number;
  readonly findings: FindingList;
  /** What this verification rests on, and what it could not look at: a sentence each. */
  readonly checked: readonly string[];
  readonly notChecked: readonly string[];
}

/** Verifies the journal in the database. Give it a snapshot; it holds a page of events at a time. */
export async function verifyJournal(q: Queries, options: VerifyOptions): Promise<Verification> {
  const findings = collectFindings();
  // Before the first query, which is when the snapshot begins.
  const headFiles = await measureFiles(options.headFiles ?? []);
  const given = [...(options.publicKeys ?? []), ...(await readKeptKeys(headFiles))];
  const { vault } = options;
  const onlyGiven = vault === null && (options.publicKeys ?? []).length > 0;
  const keys = await trustDatabaseKeys(q, { vault, given, onlyGiven }, findings);
  const kept = await readKeptCheckpoints(headFiles, keys, findings);

  const judgeTail = await createTailJudge(q, options.checkpointSeconds, findings);
  const counts = await checkRecords(readJournal(q, { tenantId: options.tenantId }), keys, kept, judgeTail, findings);
  const stored = await countSealed(q, options.tenantId);
  if (stored !== counts.events) {
    const told = `The table holds ${stored} sealed events, but only ${counts.events} can be read by their place.`;
    findings.error("inserted", null, null, told);
  }
  const unsealed = await checkUnsealed(q, options.tenantId, findings);
  reportUnasked(kept, options.tenantId, findings);

  return {
    ok: findings.errors === 0,
    ...counts,
    keptCheckpoints: kept.count,
    unsealed,
    findings,
    ...describeProof({ keys, hasVault: vault !== null, hasHeads: headFiles.length > 0 }),
  };
}

export interface RecordCounts {
  readonly tenants: number;
  readonly events: number;
  readonly checkpoints: number;
}

/** Follows the chains of a stream of records. */
export async function checkRecords(
  records: AsyncIterable<JournalRecord>,
  keys: TrustedKeys,
  kept: KeptCheckpoints,
  onTail: (tenantId: string, tail: UnsignedTail) => void,
  findings: FindingCollector,
): Promise<RecordCounts> {
  const counts = { tenants: 0, events: 0, checkpoints: 0 };
  let current: { tenantId: string; check: TenantCheck } | null = null;
  const endTenant = () => {
    const tail = current?.check.end();
    if (current && tail) onTail(current.tenantId, tail);
  };
  for await (const record of records) {
    if (record.record === "key") continue;
    if (record.record === "tenant") {
      endTenant();
      counts.tenants += 1;
      const { tenantId } = record;
      // In order, so that no tenant can come twice with two histories.
      if (current && Buffer.compare(Buffer.from(current.tenantId), Buffer.from(tenantId)) >= 0) {
        findings.error("inserted", tenantId, null, "The tenant's journal comes twice, or not in its order.");
      }
      current = { tenantId, check: createTenantCheck(tenantId, keys, kept.of(tenantId), findings) };
      continue;
    }
    if (current?.tenantId !== record.tenantId) {
      findings.error("malformed", record.tenantId, null, `A record stands among those of ${current?.tenantId}.`);
      continue;
    }
    if (record.record === "event" || record.record === "malformed") counts.events += 1;
    if (record.record === "checkpoint") counts.checkpoints += 1;
    follow(current.check, record);
  }
  endTenant();
  return counts;
}

function follow(check: TenantCheck, record: Exclude<JournalRecord, { record: "key" | "tenant" }>): void {
  switch (record.record) {
    case "event":
      check.event(record);
      break;
    case "malformed":
      check.malformed(record);
      break;
    case "checkpoint":
      check.checkpoint(record);
      break;
    case "head":
      check.head(record);
  }
}

/** Tenants of which nothing is left but what was kept elsewhere. */
export function reportUnasked(kept: KeptCheckpoints, only: string | undefined, findings: FindingCollector): void {
  for (const tenantId of kept.unasked()) {
    if (only !== undefined && only !== tenantId) continue;
    const last = Math.max(...kept.of(tenantId).keys());
    findings.error("cut", tenantId, last, `A checkpoint that was kept names event ${last}, but there is no journal.`);
  }
}

export function describeProof(facts: { keys: TrustedKeys; hasVault: boolean; hasHeads: boolean }) {
  const checked = ["Every event against its hash, every hash against the one before, every head and checkpoint."];
  const notChecked: string[] = [];
  const unproven = [...facts.keys].filter(([, key]) => key.proof === "unproven").map(([id]) => id);
  if (facts.hasVault) checked.push("That the journal keys open under the deployment secret.");
  if (unproven.length > 0) {
    notChecked.push(
      `Whether the journal keys (${unproven.join(", ")}) are genuine: only the data itself says so. ` +
        "Give --public-key or --head with keys that were kept elsewhere.",
    );
  } else if (!facts.hasVault) checked.push("That the journal keys are the ones given.");
  if (facts.hasHeads) checked.push("That the journal reaches every checkpoint that was kept elsewhere.");
  else notChecked.push("Whether the newest events were cut off: give --head with checkpoints kept elsewhere.");
  return { checked, notChecked };
}
