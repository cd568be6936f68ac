import { recordEvent } from "../../journal/record.ts";
import { findHolders } from "../../store/beneficiary-lists.ts";
import { isOneOf } from "../../store/bulk.ts";
import { endSessions } from "../../store/sessions.ts";
import type { Queries, Store } from "../../store/store.ts";
import { isUniqueViolation } from "../../store/unique-violation.ts";
import type { DataKeys } from "../data-keys.ts";
import { Outdated, type SealedPeople, sealPeople, writePeople } from "../write-people.ts";
import { type BatchPlan, type ImportRow, planBatch, type RowProblem } from "./plan-batch.ts";

export interface BatchContext {
  readonly store: Store;
  readonly dataKeys: DataKeys;
  readonly tenantId: string;
  /** Names the import in the journal. */
  readonly importId: string;
}

export interface BatchOutcome {
  readonly added: number;
  readonly changed: number;
  readonly unchanged: number;
  readonly problems: readonly RowProblem[];
}

const tries = 3;

/**
 * Writes a batch in one transaction. Everything that costs time, such as sealing, is done before it begins; it then
 * holds only as long as the plan's ground has not moved. A row that cannot be written costs itself alone.
 */
export async function writeBatch(context: BatchContext, rows: readonly ImportRow[]): Promise<BatchOutcome> {
  const { store, dataKeys, tenantId } = context;
  for (let attempt = 1; attempt <= tries; attempt += 1) {
    const plan = await planBatch(store, await dataKeys.cipher(tenantId), rows);
    const sealed = sealPeople(plan.cipher, plan);
    try {
      // Problems are checked too: a person who came in between two looks would seem to hold another's ID number.
      if (plan.additions.length + plan.changes.length + plan.problems.length > 0) {
        await store.transaction((tx) => carryOut(tx, context, plan, sealed));
      }
      return outcomeOf(plan);
    } catch (error) {
      if (!(error instanceof Outdated) && !isUniqueViolation(error)) throw error;
    }
  }
  const [only] = rows;
  if (only && rows.length === 1) {
    const reason = "was changed by someone else at the same time; import it again";
    return { added: 0, changed: 0, unchanged: 0, problems: [{ line: only.line, data: only.data, field: "", reason }] };
  }
  return oneByOne(context, rows);
}

export function outcomeOf({ additions, changes, unchanged, problems }: BatchPlan): BatchOutcome {
  return { added: additions.length, changed: changes.length, unchanged, problems };
}

async function oneByOne(context: BatchContext, rows: readonly ImportRow[]): Promise<BatchOutcome> {
  const sum = { added: 0, changed: 0, unchanged: 0, problems: [] as RowProblem[] };
  for (const row of rows) {
    const outcome = await writeBatch(context, [row]);
    sum.added += outcome.added;
    sum.changed += outcome.changed;
    sum.unchanged += outcome.unchanged;
    sum.problems.push(...outcome.problems);
  }
  return sum;
}

async function carryOut(tx: Queries, context: BatchContext, plan: BatchPlan, sealed: SealedPeople): Promise<void> {
  await demandSameGround(tx, plan);
  const { now } = await tx.db.selectNoFrom(tx.now.as("now")).executeTakeFirstOrThrow();
  await writePeople(tx, sealed, now);
  await journal(tx, context, plan);
}

/** The plan was made before the transaction; nobody may have changed what it rests on. */
async function demandSameGround(
  tx: Queries,
  { cipher, externalIds, people, numbers, holders }: BatchPlan,
): Promise<void> {
  const lookups = externalIds.flatMap((externalId) => cipher.indexes("external_id", externalId));
  const rows = await tx.db
    .selectFrom("beneficiaries")
    .select(["id", "version"])
    .where("tenant_id", "=", cipher.tenantId)
    .where(isOneOf(tx, "external_lookup", lookups))
    .execute();
  const versions = new Map([...people.values()].map(({ id, version }) => [id, version]));
  if (rows.length !== versions.size || rows.some(({ id, version }) => versions.get(id) !== version))
    throw new Outdated();
  const current = await findHolders(tx, cipher, numbers);
  if (current.size !== holders.size || [...current].some(([number, holder]) => holders.get(number) !== holder)) {
    throw new Outdated();
  }
}

/** One event for all that were added, one for all that were changed, with their ids; ways in closed or opened one by one. */
async function journal(tx: Queries, { tenantId, importId }: BatchContext, plan: BatchPlan): Promise<void> {
  const tell = async (type: "beneficiary.added" | "beneficiary.changed", ids: readonly string[]) => {
    if (ids.length === 0) return;
    await recordEvent(tx, { tenantId, type, data: { import: importId, count: ids.length, ids: ids.join(" ") } });
  };
  await tell(
    "beneficiary.added",
    plan.additions.map(({ id }) => id),
  );
  await tell(
    "beneficiary.changed",
    plan.changes.map(({ before }) => before.id),
  );
  for (const { before, active } of plan.changes) {
    if (active === (before.disabledAt === null)) continue;
    if (!active) await endSessions(tx, { tenantId, userId: before.id }, "user_disabled");
    const type = active ? "beneficiary.enabled" : "beneficiary.disabled";
    await recordEvent(tx, { tenantId, type, subject: before.id, data: { import: importId } });
  }
}
