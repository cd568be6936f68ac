import { Fault } from "../fault.ts";
import { recordEvent } from "../journal/record.ts";
import { changedMeanwhile } from "../people/beneficiaries.ts";
import type { Beneficiary, BeneficiaryFacts } from "../people/beneficiary.ts";
import { factColumns, identifierRows, identifiersOf } from "../people/beneficiary-rows.ts";
import { findHolders } from "../store/beneficiary-lists.ts";
import type { Queries } from "../store/store.ts";
import { type ErasureContext, eraseBeneficiary } from "./erase-beneficiary.ts";
import { mergeEntities } from "./erase-entity.ts";

/**
 * Makes one person of two records of the same one: identifiers and cards of `from` become those of `into`, which also
 * takes what it lacks. The sessions of `from` end, and it is erased.
 */
export async function mergeBeneficiaries(
  tx: Queries,
  context: ErasureContext,
  from: Beneficiary,
  into: Beneficiary,
): Promise<void> {
  const { cipher } = context;
  if (from.id === into.id) {
    throw new Fault("invalid_request", { field: "into", message: "These are one and the same person already." });
  }
  if (into.disabledAt !== null) {
    throw new Fault("invalid_request", {
      field: "into",
      message: `The person ${into.id} is disabled. Enable them first, or merge the other way round.`,
    });
  }
  const facts = mergedFacts(from, into);
  await mergeEntities(tx, cipher, from.id, into.id);
  await refuseTaken(tx, context, facts, [from.id, into.id]);
  // The order of ids, so that two merges of the same people cannot wait for each other.
  for (const person of [from, into].sort((a, b) => (a.id < b.id ? -1 : 1))) await bumpVersion(tx, person);
  await tx.db.updateTable("cards").set({ beneficiary_id: into.id }).where("beneficiary_id", "=", from.id).execute();
  await recordEvent(tx, {
    tenantId: cipher.tenantId,
    type: "beneficiary.merged",
    subject: from.id,
    data: { into: into.id },
  });
  // First, because an external id and an ID number have one holder at a time.
  await eraseBeneficiary(tx, context, from, "merged");
  await tx.db
    .updateTable("beneficiaries")
    .set(factColumns(cipher, into.id, facts))
    .where("id", "=", into.id)
    .execute();
  await tx.db.deleteFrom("identifiers").where("beneficiary_id", "=", into.id).execute();
  const rows = identifierRows(cipher, into.id, identifiersOf(facts), { active: true });
  if (rows.length > 0) await tx.db.insertInto("identifiers").values(rows).execute();
}

/** While `from` was disabled someone else may have come to hold its ID number. */
async function refuseTaken(
  tx: Queries,
  { cipher }: ErasureContext,
  { nationalIds }: BeneficiaryFacts,
  own: readonly string[],
): Promise<void> {
  const holders = await findHolders(
    tx,
    cipher,
    nationalIds.map(({ number }) => number),
  );
  if ([...holders.values()].some((holder) => !own.includes(holder))) throw new Fault("identifier_taken");
}

async function bumpVersion(tx: Queries, { id, version }: Beneficiary): Promise<void> {
  const row = await tx.db
    .updateTable("beneficiaries")
    .set({ version: version + 1, updated_at: tx.now })
    .where("id", "=", id)
    .where("version", "=", version)
    .returning("id")
    .executeTakeFirst();
  if (!row) throw changedMeanwhile();
}

function mergedFacts(from: Beneficiary, into: Beneficiary): BeneficiaryFacts {
  const both = (a: readonly string[], b: readonly string[]) => [...new Set([...a, ...b])];
  const added = from.nationalIds.filter(({ number }) => !into.nationalIds.some((own) => own.number === number));
  return {
    externalId: into.externalId ?? from.externalId,
    names: { ...from.names, ...into.names },
    birth: into.birth ?? from.birth,
    language: into.language ?? from.language,
    phones: both(into.phones, from.phones),
    emails: both(into.emails, from.emails),
    nationalIds: [...into.nationalIds, ...added],
  };
}
