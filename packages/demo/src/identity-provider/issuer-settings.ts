import type { AccessToken, Configuration, JWK, KoaContextWithOIDC } from "oidc-provider";
import type { IssuerShape } from "./issuer.ts";
import { escapeHtml, logoutPage, page } from "./login-page.ts";
import type { Account } from "./people.ts";
import type { Records } from "./records.ts";

type Library = typeof import("oidc-provider");

export interface IssuerParts {
  readonly shape: IssuerShape;
  readonly records: Records;
  readonly keys: readonly JWK[];
  readonly cookieKey: string;
  /** The path of the issuer, without a slash at its end. */
  readonly mount: string;
  readonly library: Library;
}

const scopes = ["openid", "offline_access", "profile", "email"];
const minutes = 60;
const days = 24 * 60 * minutes;
/** What every resource of these providers allows. */
const resourceScope = "use";

/** The settings of `oidc-provider` for one issuer. */
export function configure({ shape, records, keys, cookieKey, mount, library }: IssuerParts): Configuration {
  const cookie = { httpOnly: true, sameSite: "lax" } as const;
  const accountOf = (subject: string | undefined) => shape.accounts.find((one) => shape.subjectOf(one) === subject);
  // With which organization a grant was made: later tokens of the grant say the same.
  const organizations = new Map<string, string>();
  const factsOf = (clientId = "", grantId = "") => ({ clientId, organization: organizations.get(grantId) });
  const claimNames = Object.keys(shape.idClaims(shape.accounts[0] as Account, factsOf()));

  return {
    adapter: (kind) => records.adapter(kind),
    jwks: { keys: [...keys] },
    cookies: {
      keys: [cookieKey],
      names: {
        session: `${shape.cookies}_session`,
        interaction: `${shape.cookies}_login`,
        resume: `${shape.cookies}_resume`,
      },
      long: { ...cookie, path: `${mount}/` },
      short: cookie,
    },
    scopes,
    claims: {
      openid: ["sub", ...claimNames],
      profile: ["name", "preferred_username"],
      email: ["email", "email_verified"],
    },
    // As most providers do, and unlike the letter of the standard: the claims are in the ID token itself.
    conformIdTokenClaims: false,
    clientBasedCORS: (_ctx, origin, { redirectUris = [] }) =>
      redirectUris.some((uri) => new URL(uri).origin === origin),
    extraParams: shape.parameters,
    routes: shape.routes,
    interactions: { url: (_ctx, { uid }) => `${mount}/login/${uid}` },
    fetch: (url, { dispatcher: _guard, ...options }: RequestInit & { dispatcher?: unknown } = {}) =>
      fetch(url, options),
    issueRefreshToken: async (_ctx, client) => client.grantTypeAllowed("refresh_token"),
    expiresWithSession: async () => true,
    ttl: {
      AccessToken: 5 * minutes,
      AuthorizationCode: minutes,
      IdToken: 5 * minutes,
      RefreshToken: 14 * days,
      Interaction: 10 * minutes,
      Session: days,
      Grant: 14 * days,
    },

    async loadExistingGrant(ctx) {
      const { params = {}, client, session, provider } = ctx.oidc;
      const account = accountOf(session?.accountId);
      if (!account || !client) return undefined;
      const refusal = shape.refuse(account, params);
      if (refusal) throw new library.errors.AccessDenied(refusal);
      const grant = new provider.Grant({ clientId: client.clientId, accountId: shape.subjectOf(account) });
      grant.addOIDCScope(scopes.join(" "));
      const resource = shape.resource(params);
      if (resource) grant.addResourceScope(resource, resourceScope);
      const id = await grant.save();
      if (typeof params.organization === "string") organizations.set(id, params.organization);
      return grant;
    },

    findAccount(_ctx, subject, token) {
      const account = accountOf(subject);
      if (!account) return undefined;
      const { username, name, email } = account;
      const standard = { sub: subject, name, preferred_username: username, email, email_verified: true };
      return {
        accountId: subject,
        claims: () => ({ ...standard, ...shape.idClaims(account, factsOf(token?.clientId, token?.grantId)) }),
      };
    },

    extraTokenClaims(_ctx, token) {
      const { accountId, clientId, grantId } = token as AccessToken;
      const account = accountOf(accountId);
      return account && shape.accessClaims(account, factsOf(clientId, grantId));
    },

    formats: {
      customizers: {
        async jwt(_ctx, token, jwt) {
          const [resource = ""] = [token.aud].flat();
          // `JWT`, not `at+jwt`: what the providers that these stand for say by default.
          jwt.header = { typ: "JWT" };
          jwt.payload = { ...jwt.payload, client_id: undefined, aud: shape.audience(resource) };
        },
      },
    },

    features: {
      devInteractions: { enabled: false },
      backchannelLogout: { enabled: true },
      introspection: { enabled: true, allowedPolicy: async () => true },
      revocation: { enabled: true, allowedPolicy: async (_ctx, client, token) => token.clientId === client.clientId },
      resourceIndicators: {
        enabled: true,
        defaultResource: async (ctx) => shape.resource(ctx.oidc.params ?? {}) ?? [],
        useGrantedResource: async () => true,
        getResourceServerInfo: async (_ctx, resource) => ({
          scope: resourceScope,
          audience: resource,
          accessTokenFormat: "jwt",
          jwt: { sign: { alg: "RS256" } },
        }),
      },
      rpInitiatedLogout: {
        enabled: true,
        logoutSource: async (ctx, form) => {
          ctx.body = logoutPage(`${shape.title}: sign out?`, form, ctx.oidc.entities.IdTokenHint !== undefined);
        },
        postLogoutSuccessSource: async (ctx) => {
          ctx.body = page(`${shape.title}: you are signed out`, "");
        },
      },
    },

    renderError(ctx: KoaContextWithOIDC, out) {
      ctx.type = "html";
      const told = Object.entries(out).map(([key, value]) => `<p>${escapeHtml(`${key}: ${value}`)}</p>`);
      ctx.body = page(`${shape.title}: that did not work`, told.join("\n"));
    },
  };
}
