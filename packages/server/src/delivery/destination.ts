import type { Beneficiary } from "../people/beneficiary.ts";
import type { TenantCipher } from "../people/data-keys.ts";
import { findBeneficiary, findByIdentifier } from "../store/beneficiaries.ts";
import type { Queries } from "../store/store.ts";
import type { Job, Medium } from "./outbox.ts";

export interface Destination {
  /** The registered address, never the one that was typed. */
  readonly address: string;
  readonly language: string | null;
  /** It tells of a change, and carries no code. */
  readonly notice?: true;
}

/** Where a message goes: to the address that is on record. Null where nobody who may sign in has it. */
export async function findDestination(
  q: Queries,
  cipher: TenantCipher,
  job: Job,
  medium: Medium,
): Promise<Destination | null> {
  // On purpose not looked up: it is an address that the person may have no more.
  if (job.to === "former") return { address: job.address, language: job.language, notice: true };
  if (job.to === "beneficiary") {
    const person = await findBeneficiary(q, cipher, job.beneficiaryId);
    return person && person.disabledAt === null ? destinationOf(person, medium) : null;
  }
  const [person] = await findByIdentifier(q, cipher, job.kind, job.recipient);
  const registered =
    person && (job.kind === "phone" ? person.phones : person.emails).find((own) => own === job.recipient);
  return registered === undefined ? null : { address: registered, language: person?.language ?? null };
}

function destinationOf(person: Beneficiary, medium: Medium): Destination | null {
  const [address] = medium === "sms" ? person.phones : person.emails;
  return address === undefined ? null : { address, language: person.language };
}
