import { type Static, Type } from "typebox";
import { component, literals, strictObject } from "./schema.ts";
import { type AdapterType, TenantId } from "./tenant.ts";

/** The registry keys of identity providers. */
export const oidcTypes = ["oidc_a", "oidc_b"] as const satisfies readonly AdapterType[];
export type OidcType = (typeof oidcTypes)[number];

/** The product family each key stands for, accepted in its place. */
export const oidcAliases = { auth0: "oidc_a", keycloak: "oidc_b" } as const satisfies Record<string, OidcType>;

export const OidcExchangeRequest = component(
  "OidcExchangeRequest",
  strictObject({
    type: literals([...oidcTypes, ...(Object.keys(oidcAliases) as (keyof typeof oidcAliases)[])], "The provider."),
    idToken: Type.String({
      minLength: 1,
      maxLength: 12_288,
      description: "At most five minutes old, and good for one exchange.",
    }),
    salt: Type.String({
      pattern: "^[A-Za-z0-9_-]{22,128}$",
      description:
        "What the nonce of the ID token was made with: base64url(SHA-256(jkt + '.' + salt)), at least 16 random bytes in base64url.",
    }),
    tenantId: Type.Optional(TenantId),
  }),
);
export type OidcExchangeRequest = Static<typeof OidcExchangeRequest>;

export const BackchannelLogoutRequest = component(
  "BackchannelLogoutRequest",
  strictObject({ logout_token: Type.String({ minLength: 1, maxLength: 12_288 }) }),
);
export type BackchannelLogoutRequest = Static<typeof BackchannelLogoutRequest>;
