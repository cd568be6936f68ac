import { type Static, Type } from "typebox";
import { component, literals, strictObject } from "./schema.ts";
import { TenantId } from "./tenant.ts";

export const workerRoles = ["field-worker", "supervisor", "admin"] as const;
export type WorkerRole = (typeof workerRoles)[number];

export const userKinds = ["field-worker", "beneficiary"] as const;
export type UserKind = (typeof userKinds)[number];

export const CurrentUser = component(
  "CurrentUser",
  strictObject({
    userId: Type.String(),
    username: Type.String({ description: "A citizen's is self-service:{entityId}: no personal data." }),
    tenantId: TenantId,
    kind: literals(userKinds),
    roles: Type.Array(Type.String()),
    scope: Type.String(),
    provider: Type.String(),
    entityId: Type.Optional(Type.String()),
  }),
);
export type CurrentUser = Static<typeof CurrentUser>;
