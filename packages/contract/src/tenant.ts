import { type Static, Type } from "typebox";
import { component, literals, ref, strictObject } from "./schema.ts";

export const tenantIdPattern = "^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$";

export const TenantId = Type.String({
  pattern: tenantIdPattern,
  description: "Lower-case letters, digits and hyphens.",
});

/** The registry keys of the specification. */
export const adapterTypes = ["oidc_a", "oidc_b", "otp", "id"] as const;
export type AdapterType = (typeof adapterTypes)[number];

export const AdapterConfig = component(
  "AdapterConfig",
  strictObject({
    type: literals(adapterTypes, "The registry key of the provider adapter."),
    fields: Type.Record(Type.String(), Type.String(), { description: "What that adapter needs to know." }),
  }),
);
export type AdapterConfig = Static<typeof AdapterConfig>;

export const AuthConfig = component(
  "AuthConfig",
  strictObject(
    {
      tenantId: TenantId,
      name: Type.String({ description: "The tenant's name, for people." }),
      defaultCountry: Type.Optional(Type.String({ description: "ISO 3166-1 alpha-2." })),
      birthYearAlone: Type.Optional(
        Type.Boolean({ description: "With the id adapter: whether a year alone is accepted as date of birth." }),
      ),
      adapters: Type.Array(ref(AdapterConfig)),
    },
    { description: "What a client needs to know before anyone signs in. Nothing in it is secret." },
  ),
);
export type AuthConfig = Static<typeof AuthConfig>;
