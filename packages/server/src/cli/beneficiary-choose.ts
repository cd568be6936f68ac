import type { Beneficiary } from "../people/beneficiary.ts";
import { createDataKeys, type DataKeys, type TenantCipher } from "../people/data-keys.ts";
import type { Tenant } from "../people/tenants.ts";
import { findBeneficiary, findByExternalId } from "../store/beneficiaries.ts";
import type { Queries } from "../store/store.ts";
import { chosenTenant, type TenantOption } from "./choose.ts";
import { CliFailure } from "./cli-failure.ts";
import type { CliContext, Deployment, Run } from "./context.ts";

/** A tenant whose people a command works with. */
export interface PeopleOfTenant extends Deployment {
  readonly tenant: Tenant;
  readonly dataKeys: DataKeys;
  readonly cipher: TenantCipher;
}

export const personNotes =
  "A PERSON is an entity id, or the external id that the programme itself uses. What happens to people is journalled.";

export async function openPeople(run: Run<TenantOption>, cli: CliContext): Promise<PeopleOfTenant> {
  const deployment = await run.deployment();
  const tenant = await chosenTenant(deployment, run.options);
  const dataKeys = createDataKeys(deployment.store, deployment.vault, cli.clock);
  return { ...deployment, tenant, dataKeys, cipher: await dataKeys.cipher(tenant.id) };
}

export async function demandPerson(q: Queries, { tenant, cipher }: PeopleOfTenant, name: string): Promise<Beneficiary> {
  const person = (await findBeneficiary(q, cipher, name)) ?? (await findByExternalId(q, cipher, name));
  if (person) return person;
  throw new CliFailure(`The tenant ${tenant.id} has no person "${name}". Give an entity id or an external id.`);
}
