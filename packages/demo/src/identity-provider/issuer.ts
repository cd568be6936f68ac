import { randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import type { Provider } from "oidc-provider";
import { configure } from "./issuer-settings.ts";
import type { Keyring } from "./keyring.ts";
import { loginPage } from "./login-page.ts";
import type { Account } from "./people.ts";
import { createRecords } from "./records.ts";

/** What one kind of provider does differently. */
export interface IssuerShape {
  /** The issuer identifier, exactly as tokens say it. */
  readonly issuer: string;
  /** The name on its pages. */
  readonly title: string;
  /** What its cookies begin with: providers on one host share a cookie jar. */
  readonly cookies: string;
  readonly routes: Readonly<
    Record<"authorization" | "token" | "jwks" | "userinfo" | "end_session" | "revocation" | "introspection", string>
  >;
  /** Parameters of an authorization request that it understands besides the standard's. */
  readonly parameters: readonly string[];
  readonly accounts: readonly Account[];
  subjectOf(account: Account): string;
  /** Why this account may not sign in with these parameters; null when it may. */
  refuse(account: Account, parameters: Parameters): string | null;
  /** The claims of ID tokens besides the standard's. */
  idClaims(account: Account, facts: TokenFacts): Readonly<Record<string, unknown>>;
  /** The claims of access tokens besides the standard's. */
  accessClaims(account: Account, facts: TokenFacts): Readonly<Record<string, unknown>>;
  /** For which API an access token is; it is then a JWT, and opaque otherwise. */
  resource(parameters: Parameters): string | undefined;
  /** The `aud` of a JWT access token for a resource. */
  audience(resource: string): string | string[];
}

export type Parameters = Readonly<Record<string, unknown>>;

export interface TokenFacts {
  readonly clientId: string;
  readonly organization: string | undefined;
}

/** An application that may send people here. */
export interface Client {
  readonly clientId: string;
  readonly redirectUris: readonly string[];
  readonly postLogoutRedirectUris?: readonly string[];
  readonly backchannelLogoutUri?: string;
  /** Makes it a service that authenticates itself, to introspect tokens for example. */
  readonly secret?: string;
}

export interface Issuer {
  readonly issuer: string;
  addClient(client: Client): void;
  /** Ends the sessions and grants of a person, and tells the applications that asked to be told. */
  revoke(username: string): Promise<void>;
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>;
}

/** What the library's clients can do and its types do not say. */
interface Tellable {
  backchannelLogout(subject: string, sid: string | undefined): Promise<void>;
}

export function createIssuer(shape: IssuerShape, keyring: Keyring): Issuer {
  const records = createRecords();
  const cookieKey = randomBytes(32).toString("base64url");
  const mount = new URL(shape.issuer).pathname.replace(/\/$/, "");
  let made: { provider: Provider; kid: string | undefined } | undefined;

  /** The provider's keys are fixed when it is made, so a rotation makes another one over the same records. */
  async function provider(): Promise<Provider> {
    const keys = await keyring.keys();
    const [{ kid } = {}] = keys;
    if (made?.kid !== kid || !made) {
      const library = await import("oidc-provider");
      const settings = configure({ shape, records, keys, cookieKey, mount, library });
      made = { provider: new library.Provider(shape.issuer, settings), kid };
    }
    return made.provider;
  }

  async function login(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const op = await provider();
    const { prompt } = await op.interactionDetails(request, response);
    // All its applications are its own: nobody is asked for a consent.
    if (prompt.name !== "login") return op.interactionFinished(request, response, { consent: {} });
    const form = new URLSearchParams(request.method === "POST" ? await text(request) : "");
    if (form.get("action") === "cancel") {
      const error = { error: "access_denied", error_description: "The person has cancelled the sign-in." };
      return op.interactionFinished(request, response, error, { mergeWithLastSubmission: false });
    }
    const username = form.get("username") ?? "";
    const account = shape.accounts.find((one) => one.username === username && one.password === form.get("password"));
    if (account) {
      return op.interactionFinished(request, response, { login: { accountId: shape.subjectOf(account) } });
    }
    const problem = request.method === "POST" ? "That username and password do not fit together." : null;
    response.writeHead(problem ? 401 : 200, {
      "content-type": "text/html; charset=utf-8",
      "cache-control": "no-store",
    });
    response.end(loginPage({ title: shape.title, username, problem }));
  }

  return {
    issuer: shape.issuer,

    addClient(client) {
      const { clientId, redirectUris, postLogoutRedirectUris = [], backchannelLogoutUri, secret } = client;
      records.adapter("Client").upsert(clientId, {
        client_id: clientId,
        redirect_uris: secret ? [] : redirectUris,
        response_types: secret ? [] : ["code"],
        grant_types: secret ? [] : ["authorization_code", "refresh_token"],
        post_logout_redirect_uris: postLogoutRedirectUris,
        token_endpoint_auth_method: secret ? "client_secret_basic" : "none",
        ...(secret && { client_secret: secret }),
        ...(backchannelLogoutUri && {
          backchannel_logout_uri: backchannelLogoutUri,
          backchannel_logout_session_required: true,
        }),
      });
    },

    async revoke(username) {
      const op = await provider();
      const subjects = shape.accounts.filter((one) => one.username === username).map(shape.subjectOf);
      for (const [id, { accountId = "", authorizations = {} }] of records.all("Session")) {
        if (!subjects.includes(accountId)) continue;
        await records.adapter("Session").destroy(id);
        for (const [clientId, { sid }] of Object.entries(authorizations)) {
          const client = await op.Client.find(clientId);
          if (client?.backchannelLogoutUri) await (client as unknown as Tellable).backchannelLogout(accountId, sid);
        }
      }
      for (const [id, { accountId = "" }] of records.all("Grant")) {
        if (!subjects.includes(accountId)) continue;
        await records.adapter("Grant").destroy(id);
        for (const kind of ["AccessToken", "RefreshToken", "AuthorizationCode"]) {
          await records.adapter(kind).revokeByGrantId(id);
        }
      }
    },

    async handle(request, response) {
      const path = (request.url ?? "/").slice(mount.length) || "/";
      if (path.startsWith("/login/")) return login(request, response);
      // The library finds out where it is mounted by comparing the two.
      Object.assign(request, { originalUrl: request.url, url: path });
      await (await provider()).callback()(request, response);
    },
  };
}
