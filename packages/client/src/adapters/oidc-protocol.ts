import {
  type AuthorizationServer,
  allowInsecureRequests,
  authorizationCodeGrantRequest,
  customFetch,
  discoveryRequest,
  None,
  processDiscoveryResponse,
  refreshTokenGrantRequest,
  validateAuthResponse,
} from "oauth4webapi";
import { AuthError, NetworkError } from "../errors.ts";

/** What the token endpoint answers. */
export interface ProviderTokens {
  readonly access_token: string;
  readonly expires_in?: number;
  readonly refresh_token?: string;
  readonly id_token?: string;
}

/** One identity provider, spoken to by the rules of OpenID Connect. Rejects with an `AuthError`. */
export interface OidcProtocol {
  /** The provider's own words about itself, asked for where they are not known. */
  discover(): Promise<AuthorizationServer>;
  /**
   * The address of one of the provider's pages, with parameters; those without a value are left out. The provider is asked anew:
   * nobody is sent to one that is away.
   */
  page(
    name: "authorization_endpoint" | "end_session_endpoint",
    parameters: Readonly<Record<string, string | undefined>>,
  ): Promise<string | undefined>;
  /** Checks the address that the provider sent the person to (state, issuer, error), then redeems its code. */
  redeem(url: string, sent: { state: string; redirectUri: string; verifier: string }): Promise<ProviderTokens>;
  refresh(refreshToken: string): Promise<ProviderTokens>;
}

export interface ProtocolSettings {
  readonly issuer: string;
  readonly clientId: string;
  readonly fetch: typeof fetch;
  readonly timeout: number;
}

export function createProtocol({ issuer, clientId, fetch, timeout }: ProtocolSettings): OidcProtocol {
  const client = { client_id: clientId };
  const { protocol } = new URL(issuer);

  const options = () => ({
    // Only this machine's own addresses get here over http.
    [allowInsecureRequests]: protocol === "http:",
    [customFetch]: async (url: string, init: object) => {
      const response = await fetch(url, { ...init, credentials: "omit" }).catch((cause) => {
        throw new NetworkError(`${issuer} did not answer.`, { cause });
      });
      const { status } = response;
      if (status === 429 || status >= 500)
        throw new NetworkError(`${issuer} cannot answer now (${status}).`, { status });
      return response;
    },
    signal: AbortSignal.timeout(timeout),
  });

  /** Whatever the provider says that the standard does not allow is one kind of error. */
  async function accept<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (cause) {
      if (cause instanceof AuthError) throw cause;
      const { error, error_description: description, message } = cause as Record<string, string | undefined>;
      const code = error === "access_denied" ? "access_denied" : "provider_error";
      throw new AuthError(code, `${issuer}: ${error ? `${error} ${description ?? ""}` : message}`, { cause });
    }
  }

  async function tokens(response: Response, whenRefused: "sign_in_expired" | "invalid_grant"): Promise<ProviderTokens> {
    const body = await response.json().catch(() => ({}));
    if (response.ok && body.access_token) return body;
    const { error = response.status, error_description: description = "" } = body;
    const code = error === "invalid_grant" ? whenRefused : "provider_error";
    throw new AuthError(code, `${issuer}: ${error} ${description}`, { status: 401 });
  }

  let known: AuthorizationServer | undefined;
  function ask(): Promise<AuthorizationServer> {
    return accept(async () => {
      const url = new URL(issuer);
      known = await processDiscoveryResponse(url, await discoveryRequest(url, options()));
      return known;
    });
  }
  const discover = async () => known ?? ask();

  return {
    discover,
    async page(name, parameters) {
      const address = (await ask())[name];
      if (!address) return undefined;
      const url = new URL(address);
      // The person is sent there: no script, and nothing less safe than the provider itself.
      if (url.protocol !== "https:" && url.protocol !== protocol) {
        throw new AuthError("provider_error", `${issuer}: its ${name} is ${address}`);
      }
      for (const [key, value] of Object.entries(parameters)) if (value) url.searchParams.set(key, value);
      return url.href;
    },
    async redeem(url, { state, redirectUri, verifier }) {
      const as = await discover();
      return accept(async () => {
        const answer = validateAuthResponse(as, client, new URL(url), state);
        const response = await authorizationCodeGrantRequest(
          as,
          client,
          None(),
          answer,
          redirectUri,
          verifier,
          options(),
        );
        return tokens(response, "sign_in_expired");
      });
    },
    async refresh(refreshToken) {
      const as = await discover();
      return accept(async () =>
        tokens(await refreshTokenGrantRequest(as, client, None(), refreshToken, options()), "invalid_grant"),
      );
    },
  };
}
