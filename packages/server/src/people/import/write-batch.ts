import type { Selectable } from "kysely";
import { recordEvent } from "../../journal/record.ts";
import { findHolders } from "../../store/beneficiary-lists.ts";
import { type ColumnKinds, insertMany, isOneOf, updateMany } from "../../store/bulk.ts";
import type { BeneficiaryTable, IdentifierTable } from "../../store/schema.ts";
import { endSessions } from "../../store/sessions.ts";
import type { Queries, Store } from "../../store/store.ts";
import { isUniqueViolation } from "../../store/unique-violation.ts";
import { factColumns, identifierRows, identifiersOf } from "../beneficiary-rows.ts";
import type { DataKeys } from "../data-keys.ts";
import { neighbourIds } from "../neighbour-ids.ts";
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

/** Someone changed what the plan rests on. */
class Outdated extends Error {}

const tries = 3;

/**
 * Writes a batch in one transaction. Everything that costs time, such as sealing, is done before it begins; it then
 * holds only as long as the plan's ground has not moved. A row that cannot be written costs itself alone.
 */
export async function writeBatch(context: BatchContext, rows: readonly ImportRow[]): Promise<BatchOutcome> {
  const { store, dataKeys, tenantId } = context;
  for (let attempt = 1; attempt <= tries; attempt += 1) {
    const plan = await planBatch(store, await dataKeys.cipher(tenantId), rows);
    const sealed = sealPlan(plan);
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

type PersonRow = Omit<Selectable<BeneficiaryTable>, "created_at" | "updated_at" | "disabled_at">;

interface SealedPlan {
  readonly additions: readonly { readonly row: PersonRow; readonly active: boolean }[];
  readonly changes: readonly {
    readonly row: PersonRow;
    readonly active: boolean;
    readonly disabledAt: number | null;
  }[];
  readonly identifiers: readonly Selectable<IdentifierTable>[];
}

function sealPlan({ cipher, additions, changes }: BatchPlan): SealedPlan {
  const newId = neighbourIds();
  const personRow = (id: string, version: number, facts: Parameters<typeof factColumns>[2]): PersonRow => ({
    id,
    tenant_id: cipher.tenantId,
    ...factColumns(cipher, id, facts),
    version,
  });
  const people = [...additions, ...changes.map(({ before, facts, active }) => ({ id: before.id, facts, active }))];
  return {
    additions: additions.map(({ id, facts, active }) => ({ row: personRow(id, 1, facts), active })),
    changes: changes.map(({ before, facts, active }) => ({
      row: personRow(before.id, before.version + 1, facts),
      active,
      disabledAt: before.disabledAt,
    })),
    identifiers: people.flatMap(({ id, facts, active }) =>
      identifierRows(cipher, id, identifiersOf(facts), { active, newId }),
    ),
  };
}

async function carryOut(tx: Queries, context: BatchContext, plan: BatchPlan, sealed: SealedPlan): Promise<void> {
  await demandSameGround(tx, plan);
  const { now } = await tx.db.selectNoFrom(tx.now.as("now")).executeTakeFirstOrThrow();
  await insertMany(
    tx,
    "beneficiaries",
    personColumns,
    sealed.additions.map(({ row, active }) => ({
      ...row,
      created_at: now,
      updated_at: now,
      disabled_at: active ? null : now,
    })),
  );
  await writeChanges(tx, sealed, now);
  await insertMany(tx, "identifiers", identifierColumns, sealed.identifiers);
  await journal(tx, context, plan);
}

const personColumns = [
  ...(["id", "tenant_id", "external_lookup", "sealed_external_id", "sealed_names", "sealed_birth"] as const),
  ...(["language", "key_version", "version", "created_at", "updated_at", "disabled_at"] as const),
] as const satisfies readonly (keyof BeneficiaryTable)[];
const identifierColumns = [
  ...(["id", "tenant_id", "beneficiary_id", "kind", "type", "lookup", "sealed_value", "position", "active"] as const),
] as const satisfies readonly (keyof IdentifierTable)[];

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

async function writeChanges(tx: Queries, { changes }: SealedPlan, now: number): Promise<void> {
  if (changes.length === 0) return;
  const rows = changes.map(({ row, active, disabledAt }) => ({
    ...row,
    updated_at: now,
    disabled_at: active ? null : (disabledAt ?? now),
    before: row.version - 1,
  }));
  const changed = await updateMany(tx, "beneficiaries", changedColumns, rows, { column: "version", field: "before" });
  if (changed !== rows.length) throw new Outdated();
  const ids = rows.map(({ id }) => id);
  await tx.db
    .deleteFrom("identifiers")
    .where(isOneOf(tx, "beneficiary_id", ids))
    .execute();
}

const changedColumns: ColumnKinds = {
  ...{ external_lookup: "text", sealed_external_id: "text", sealed_names: "text", sealed_birth: "text" },
  ...{ language: "text", key_version: "bigint", version: "bigint", updated_at: "bigint", disabled_at: "bigint" },
};

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
