import type { ApiClient } from "../api-client.ts";
import type { KeyDatabase } from "../keys/key-database.ts";
import type { AuthManagerOptions } from "../options.ts";
import type { Prover } from "../renewal/dpop.ts";
import type { SignInAnswer } from "../session.ts";
import type { StoredSession } from "../storage/storage.ts";
import type { Verdict } from "../token-check.ts";

export interface Credentials {
  readonly username: string;
  readonly password: string;
}

/** What every way in gives. */
export interface SignedIn {
  readonly username: string;
  readonly token: string;
}

/**
 * A way in. Implement it and register it with `AuthManager.register` to add a provider; run the suite of
 * `@fieldgate/client/testing` on it.
 */
export interface AuthAdapter {
  /** Gets ready. It may fail while the network is away; it is then called again before the next use. */
  initialize(): Promise<void>;
  login(credentials: Credentials | null): Promise<SignedIn>;
  /** Ends what the provider itself keeps. AuthManager has emptied the storage, and says which sessions were in it. */
  logout(ended?: readonly StoredSession[]): Promise<void>;
  isAuthenticated(): Promise<boolean>;
  /** False: the token is not valid. Reject when that cannot be told, such as offline: nobody is signed out by it. */
  validateToken(token: string): Promise<boolean>;
  handleCallback?(url: string): Promise<SignedIn>;
  /**
   * Renews a session that has a refresh token which is not the service's. Reject with the code `invalid_grant` and the status 401
   * when it is over, with anything else when that cannot be told.
   */
  refresh?(session: StoredSession): Promise<SignInAnswer>;
}

/** Which adapter to use, by its registry key, and what it needs to know. */
export interface AdapterConfig {
  readonly type: string;
  readonly fields: Readonly<Record<string, string>>;
}

/** What AuthManager lends an adapter. */
export interface AdapterContext {
  /** The key the adapter's sessions are stored under. */
  readonly provider: string;
  /** The tenant of the storage; empty for the service's default tenant. */
  readonly tenantId: string;
  readonly serverBaseUrl: string;
  /** A frontend trusts its own rules while the server is away; a backend does not. */
  readonly environment: "frontend" | "backend";
  readonly fetch: typeof fetch;
  /** Milliseconds an answer may take. */
  readonly timeout: number;
  /** Shows a page of the provider to the person, where the app has a way of its own. */
  readonly navigate?: AuthManagerOptions["navigate"];
  /** The client's own database of this tenant. */
  keys(): KeyDatabase;
  /** The server's time in ms, as well as this device can tell. */
  now(): number;
  /** This device's time in ms, right or wrong. */
  deviceNow(): number;
  /** A client of the service at this base URL; it must be https, or loopback. */
  connect(serverUrl: string | undefined): ApiClient;
  /** The server's verdict on a token, at most a minute old; `unknown` when it cannot be asked. */
  checkToken(token: string, api: ApiClient): Promise<Verdict>;
  /** The stored session of this adapter. */
  session(): Promise<StoredSession | null>;
  /** The token of whoever is signed in, through any provider. */
  currentToken(): Promise<string | null>;
  /** Runs a sign-in: moves the state, stores the session that comes out of it, tells the other tabs. */
  signIn(run: (request: SignInRequest) => Promise<SignInAnswer>, options?: SignInOptions): Promise<SignedIn>;
  /** Ends this adapter's session, and says what it was. */
  signOut(): Promise<readonly StoredSession[]>;
}

export interface SignInOptions {
  /** The base URL of the service that gives the token. */
  readonly server?: string;
  /** Bind the session to a key made for it now, or before. */
  readonly bind?: boolean | CryptoKeyPair;
  /** The name the person signs in with, to find the token that names this device to that account. It is not stored. */
  readonly name?: string;
}

/** What a sign-in request is to carry. */
export interface SignInRequest {
  readonly prove: Prover | undefined;
  readonly device: string | undefined;
}

export type AdapterFactory = (config: AdapterConfig, context: AdapterContext) => AuthAdapter | Promise<AuthAdapter>;
