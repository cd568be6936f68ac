import type { Config } from "../config/config.ts";
import { createPasswordHasher } from "../people/password-hash.ts";
import { passwordProblem } from "../people/password-rules.ts";
import { tenantPolicy } from "../people/tenant-policy.ts";
import type { Tenant } from "../people/tenants.ts";
import { CliFailure } from "./cli-failure.ts";
import type { CliContext } from "./context.ts";
import { askHidden, canAsk, readStdin } from "./prompt.ts";

export interface PasswordOptions {
  readonly passwordStdin?: true;
}

/** Help for the option; a password as an argument would be seen by everyone who lists processes. */
export const passwordStdinOption = [
  "--password-stdin",
  "read the password from stdin instead of asking for it",
] as const;

/** A new password, asked for twice or read from stdin, checked by the rules that hold for the tenant. */
export async function readNewPassword(
  cli: CliContext,
  options: PasswordOptions,
  whose: {
    readonly username: string;
    readonly tenant: Pick<Tenant, "id" | "name" | "settings">;
    readonly config: Config;
  },
): Promise<string> {
  const { minLength } = tenantPolicy(whose.config.policy, whose.tenant.settings.policy).password;
  const password = await read(cli, options, whose.username);
  const problem = await passwordProblem(password, {
    username: whose.username,
    tenantId: whose.tenant.id,
    tenantName: whose.tenant.name,
    minLength,
  });
  if (problem !== null) throw new CliFailure(problem);
  return password;
}

async function read(cli: CliContext, { passwordStdin }: PasswordOptions, username: string): Promise<string> {
  if (passwordStdin) {
    const password = await readStdin(cli, "a password");
    if (password === "") throw new CliFailure("stdin held no password.");
    return password;
  }
  if (!canAsk(cli)) {
    throw new CliFailure("There is no terminal to ask for the password on. Pipe it in and add --password-stdin.", 2);
  }
  const first = await askHidden(cli, `Password of ${username} (it is not shown)`);
  const second = await askHidden(cli, "The same again");
  if (first !== second) throw new CliFailure("The two passwords differ. Nothing was changed; try again.");
  return first;
}

/** Commands hash one password and end. */
export function hashPassword(password: string): Promise<string> {
  return createPasswordHasher({ parallel: 1, queue: 1 }).hash(password);
}
