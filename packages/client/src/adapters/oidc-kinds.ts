export type OidcFields = Readonly<Record<string, string | undefined>>;

/** What sets one kind of identity provider apart from the other. */
export interface OidcKind {
  /** What the service calls it. */
  readonly type: "oidc_a" | "oidc_b";
  /** The issuer, without a slash at its end. */
  issuer(authority: string, fields: OidcFields): string;
  /** Whether tokens may name the issuer with a slash at its end. The discovery document says whether they do. */
  readonly mayEndWithSlash: boolean;
  /** What its scope must say, besides, for a refresh token. */
  readonly renewalScope: string;
  /** What the authorization request says besides the standard's parameters. */
  parameters(fields: OidcFields): Readonly<Record<string, string | undefined>>;
  /** Claims that every token must have exactly so: the membership that lets a person in. */
  claims(fields: OidcFields): Readonly<Record<string, string | undefined>>;
  /** Claims that an access token must have exactly so. */
  readonly accessClaims: Readonly<Record<string, string>>;
}

const hosted: OidcKind = {
  type: "oidc_a",
  issuer: (authority) => authority,
  mayEndWithSlash: true,
  renewalScope: " offline_access",
  parameters: ({ organization }) => ({ organization }),
  claims: ({ organization }) => ({ org_id: organization }),
  accessClaims: {},
};

const selfHosted: OidcKind = {
  type: "oidc_b",
  issuer(authority, { realm = "" }) {
    const end = `/realms/${encodeURIComponent(realm)}`;
    return authority.endsWith(end) ? authority : authority + end;
  },
  mayEndWithSlash: false,
  // There is one in any case; with `offline_access` it would outlive a logout.
  renewalScope: "",
  // The issuer is the realm: nothing more need be said, or be asked for.
  parameters: () => ({}),
  claims: () => ({}),
  accessClaims: { typ: "Bearer" },
};

/** By registry key. */
export const oidcKinds: Readonly<Record<string, OidcKind>> = {
  oidc_a: hosted,
  auth0: hosted,
  oidc_b: selfHosted,
  keycloak: selfHosted,
};
