import type { Worker } from "../people/workers.ts";
import { isoTime } from "./table.ts";

/** A user as commands tell of one; never the hash. */
export function userAsJson({ id, tenantId, username, roles, disabledAt, passwordHash }: Worker): object {
  const hasPassword = passwordHash !== null;
  return { id, tenantId, username, roles, hasPassword, disabled: disabledAt !== null, disabledAt: isoTime(disabledAt) };
}
