import { type Static, Type } from "typebox";
import { component, strictObject } from "./schema.ts";
import { TenantId } from "./tenant.ts";

export const CheckTokenRequest = component(
  "CheckTokenRequest",
  strictObject(
    // No limits here: whatever is no token is a 401, and the body has its own limit.
    { token: Type.Optional(Type.String()) },
    { description: "The token to check, where it is not sent as Bearer." },
  ),
);
export type CheckTokenRequest = Static<typeof CheckTokenRequest>;

/** The answer for a valid token. An invalid one is always a 401, so a client that reads only the status is not fooled. */
export const TokenVerdict = component(
  "TokenVerdict",
  strictObject({
    valid: Type.Literal(true),
    provider: Type.String({ description: "The way the person signed in." }),
    subject: Type.String(),
    username: Type.String(),
    tenantId: TenantId,
    scope: Type.String(),
    expiresIn: Type.Integer(),
  }),
);
export type TokenVerdict = Static<typeof TokenVerdict>;

/** The claims of our access tokens (`typ: at+jwt`, ES256). They hold no personal data. */
export const AccessTokenClaims = component(
  "AccessTokenClaims",
  Type.Object(
    {
      iss: Type.String(),
      aud: Type.String(),
      sub: Type.String({ description: "The id of the worker or the beneficiary." }),
      iat: Type.Integer(),
      nbf: Type.Integer(),
      exp: Type.Integer(),
      jti: Type.String(),
      sid: Type.String({ description: "The session: what logout and revocation end." }),
      tenantId: TenantId,
      scope: Type.String({ description: "`field-work` for workers, `self-service` for citizens." }),
      amr: Type.Array(Type.String(), { description: "How the person signed in (RFC 8176)." }),
      acr: Type.String({ description: "How sure we are: low or substantial." }),
      entityId: Type.Optional(Type.String({ description: "Citizens only: the entity the token is scoped to." })),
      act: Type.Optional(
        Type.Object(
          { sub: Type.String() },
          { description: "The worker who helped the citizen to sign in (RFC 8693)." },
        ),
      ),
    },
    { additionalProperties: false },
  ),
);
export type AccessTokenClaims = Static<typeof AccessTokenClaims>;

/** The `scope` of a token, by the kind of person it was issued to. */
export const scopes = { "field-worker": "field-work", beneficiary: "self-service" } as const;
