import { tenantIdPattern } from "@fieldgate/contract";
import { CliFailure } from "./cli-failure.ts";
import type { CliContext, CommonOptions } from "./context.ts";
import { deliveryIsGiven, initDelivery } from "./init-delivery.ts";
import type { PasswordOptions } from "./password-input.ts";
import { ask, canAsk } from "./prompt.ts";

export interface InitOptions extends CommonOptions, PasswordOptions {
  readonly baseUrl?: string;
  readonly databaseUrl?: string;
  readonly tenant?: string;
  readonly tenantName?: string;
  readonly admin?: string;
  readonly smtpUrl?: string;
  readonly smtpFrom?: string;
  readonly deliveryFile?: string;
  readonly deliveryLater?: true;
  readonly out: string;
}

export interface InitAnswers {
  readonly baseUrl: string;
  /** Empty for the file in the data directory. */
  readonly databaseUrl: string;
  readonly tenant: string;
  readonly tenantName: string;
  readonly admin: string;
  /** `FIELDGATE_DELIVERY` for the file; empty where the environment has it, or it comes later. */
  readonly delivery: string;
}

/** What the options and the environment say; the rest is asked for, or missed by name. */
export async function initAnswers(cli: CliContext, options: InitOptions): Promise<InitAnswers> {
  const { env } = cli;
  const given = {
    baseUrl: options.baseUrl ?? env.FIELDGATE_BASE_URL,
    databaseUrl: options.databaseUrl ?? env.FIELDGATE_DATABASE_URL,
    tenant: options.tenant ?? env.FIELDGATE_DEFAULT_TENANT,
    admin: options.admin,
  };
  if (!canAsk(cli) || options.passwordStdin) {
    const needed = {
      "--base-url": options.dev ? "-" : given.baseUrl,
      "--tenant": given.tenant,
      "--admin": given.admin,
      "--smtp-url or --delivery-file": options.dev ? "-" : deliveryIsGiven(env, options),
    };
    const missing = Object.entries(needed).flatMap(([flag, value]) => (value ? [] : [flag]));
    if (missing.length > 0) {
      throw new CliFailure(`There is no terminal to ask on: add ${missing.join(", ")}. See fieldgate init --help.`, 2);
    }
  }
  const question = async (value: string | undefined, text: string, fallback?: string) =>
    value ?? (canAsk(cli) && !options.passwordStdin ? await ask(cli, text, fallback) : (fallback ?? ""));

  const baseUrl = await question(
    given.baseUrl,
    "Where will clients reach the service? (https://…)",
    options.dev ? "http://localhost:3000" : "",
  );
  const databaseUrl = await question(given.databaseUrl, "PostgreSQL address (empty: a SQLite file here)");
  const tenant = await question(given.tenant, "Id of the first tenant, in lower case");
  const unfit = !new RegExp(tenantIdPattern).test(tenant);
  if (unfit)
    throw new CliFailure(`"${tenant}" cannot be a tenant's id. Use lower-case letters, digits and hyphens.`, 2);
  const tenantName = await question(options.tenantName, "Its name, for people", tenant);
  const admin = await question(given.admin, "Username of the first admin");
  const delivery = await initDelivery(cli, options, baseUrl);
  return { baseUrl, databaseUrl, tenant, tenantName, admin, delivery };
}
