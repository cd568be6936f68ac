import { didYouMean } from "../config/suggest.ts";
import { findTenant, listTenants, type Tenant } from "../people/tenants.ts";
import { findWorker, findWorkerById, foldUsername, listWorkers, type Worker } from "../people/workers.ts";
import type { Queries } from "../store/store.ts";
import { CliFailure } from "./cli-failure.ts";
import type { Deployment } from "./context.ts";

export interface TenantOption {
  readonly tenant?: string;
}

export const tenantOption = ["--tenant <id>", "the tenant (default: FIELDGATE_DEFAULT_TENANT)"] as const;

export async function demandTenant(q: Queries, id: string): Promise<Tenant> {
  const tenant = await findTenant(q, id);
  if (tenant) return tenant;
  const ids = (await listTenants(q)).map((known) => known.id);
  const more = ids.length === 0 ? " There is none yet: add one with `fieldgate tenant add`." : didYouMean(id, ids);
  throw new CliFailure(`There is no tenant "${id}".${more}`);
}

/** The tenant of `--tenant`, or the deployment's default. */
export async function chosenTenant({ store, config }: Deployment, { tenant }: TenantOption): Promise<Tenant> {
  const id = tenant ?? config.defaultTenant;
  if (id === null) throw new CliFailure("Say which tenant: add --tenant ID, or set FIELDGATE_DEFAULT_TENANT.", 2);
  return demandTenant(store, id);
}

export async function demandWorker(q: Queries, tenant: Tenant, username: string): Promise<Worker> {
  const worker = (await findWorker(q, tenant.id, username)) ?? (await findWorkerById(q, tenant.id, username));
  if (worker) return worker;
  const all = await listWorkers(q, tenant.id);
  // Workers of an identity provider are known by the names they have there, which several may share.
  const [named, ...others] = all.filter((known) => foldUsername(known.username) === foldUsername(username));
  if (named && others.length === 0) return named;
  if (named) {
    const ids = [named, ...others].map(({ id }) => id).join(", ");
    throw new CliFailure(`The tenant ${tenant.id} has several users "${username}". Give the id of one: ${ids}.`);
  }
  const names = all.slice(0, 2000).map((known) => known.username);
  throw new CliFailure(`The tenant ${tenant.id} has no user "${username}".${didYouMean(username, names)}`);
}
