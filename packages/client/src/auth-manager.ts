import type { CurrentUser } from "@fieldgate/contract";
import type { AdapterConfig, AdapterFactory, AuthAdapter, Credentials, SignedIn } from "./adapters/adapter.ts";
import type { IdAuthAdapter } from "./adapters/id.ts";
import type { OidcAuthAdapter } from "./adapters/oidc.ts";
import type { OtpAuthAdapter } from "./adapters/otp.ts";
import { registerAdapter } from "./adapters/registry.ts";
import { ServerAuthAdapter } from "./adapters/server-adapter.ts";
import { createAuthFetch } from "./auth-fetch.ts";
import { type AuthState, isLiving } from "./auth-state.ts";
import { type Checks, sleep, startChecks } from "./checks.ts";
import { createEngine, type Engine } from "./engine.ts";
import { AuthError } from "./errors.ts";
import type { KeyDatabase } from "./keys/key-database.ts";
import { once } from "./once.ts";
import type { AuthManagerOptions } from "./options.ts";
import { graceEnd } from "./session.ts";
import type { AuthListener } from "./state-store.ts";
import { DeferredStorage, openMemory } from "./storage/deferred.ts";
import type { AuthStorageAdapter } from "./storage/storage.ts";

/** The adapters by their keys. Add your own by declaration merging, and `adapter(key)` knows its type. */
export interface AdapterTypes {
  otp: OtpAuthAdapter;
  id: IdAuthAdapter;
  oidc_a: OidcAuthAdapter;
  oidc_b: OidcAuthAdapter;
  auth0: OidcAuthAdapter;
  keycloak: OidcAuthAdapter;
}

/** The type of the adapter under a key. */
export type AdapterOf<K extends string> = K extends keyof AdapterTypes ? AdapterTypes[K] : AuthAdapter;

/**
 * Signs people in, keeps them signed in, and gives tokens that were validated before use.
 *
 * Only the server's word or a logout ends a session: a lost packet, a closed tab or a wrong clock never does.
 *
 * @example
 * const auth = new AuthManager([{ type: "otp", fields: { serverUrl } }], serverUrl, new IndexedDbAuthStorageAdapter("kenya"));
 * await auth.initialize();
 * await auth.adapter("otp").requestOtp("+254712345678");
 * await auth.adapter("otp").verifyOtp("+254712345678", code);
 * const response = await auth.fetch("/api/users/me");
 */
export class AuthManager {
  readonly #engine: Engine;
  readonly #types: readonly string[];
  #checks: Checks | undefined;

  /** Like `fetch`, with the token added. Goes to the server, the adapters' `serverUrl` and `trustedOrigins` alone. */
  readonly fetch: typeof globalThis.fetch;

  /** Calls the listener with the state now and at each change. Returns the unsubscribe function. */
  readonly subscribe: (listener: AuthListener) => () => void;

  /** Reads the storage and gets the adapters ready. A network that is away does not make it fail. */
  readonly initialize: () => Promise<void> = once(() => this.#start());

  /** Adds a provider under a new key. An existing key cannot be replaced. */
  static readonly register: (key: string, factory: AdapterFactory) => void = registerAdapter;

  /**
   * @param configs The ways in, each `{ type, fields }`.
   * @param serverBaseUrl The Fieldgate service: https, or http on localhost.
   * @param storage Where sessions are kept, and for which tenant. In memory by default: they then end with the page.
   * @throws ConfigurationError that names the field which is wrong.
   */
  constructor(
    configs: readonly AdapterConfig[],
    serverBaseUrl: string,
    storage: AuthStorageAdapter = new DeferredStorage("", () => openMemory("")),
    options: AuthManagerOptions = {},
  ) {
    const engine = createEngine(configs, serverBaseUrl, storage, options, this.initialize);
    this.#engine = engine;
    this.#types = configs.map(({ type }) => type);
    this.subscribe = engine.subscribe;
    this.fetch = createAuthFetch(engine, () => this.getToken());
  }

  /** The state now. The object stays the same until something changes. */
  get state(): AuthState {
    return this.#engine.state;
  }

  /** The tenant of the storage; empty means the service's default tenant. */
  get tenantId(): string {
    return this.#engine.storage.tenantId;
  }

  /** Whose session is in use, where the service says so. Names may be alike; these are not. */
  get userId(): string | undefined {
    return this.#engine.sessions.held?.userId;
  }

  /** The key database of this manager, once it is initialized. `@fieldgate/entity-data` keeps its keys there too. */
  get keys(): KeyDatabase {
    return this.#engine.keys();
  }

  /** Signs in with username and password, or through the adapter of the given type. */
  async login(credentials: Credentials | null, type = "password"): Promise<SignedIn> {
    const { adapters, signIn } = await this.#ready();
    const adapter = await adapters.ready(type);
    return signIn(type, () => adapter.login(credentials));
  }

  /** Finishes a sign-in that left the page; `url` is the page's address by default. */
  async handleCallback(type: string, url: string = globalThis.location?.href): Promise<SignedIn> {
    const { adapters, signIn } = await this.#ready();
    const adapter = await adapters.ready(type);
    return signIn(type, async () => {
      const finished = await adapter.handleCallback?.(url);
      if (!finished) throw new AuthError("unsupported", `The ${type} adapter has no handleCallback().`);
      return finished;
    });
  }

  /**
   * Ends the session and empties the storage at once, also offline; the server is told now, or as soon as it can be reached.
   * Resolves when the storage is empty and the server was told or did not answer.
   */
  async logout(): Promise<void> {
    const { adapters, attempt, signOut } = await this.#ready();
    const ended = await signOut();
    for (const adapter of adapters.loaded.values()) {
      // What theirs does is done: the session has ended.
      if (adapter.logout !== ServerAuthAdapter.prototype.logout) await attempt("adapter", adapter.logout(ended));
    }
  }

  /** Whether somebody counts as signed in, as far as this device can tell. */
  async isAuthenticated(): Promise<boolean> {
    const { sessions, clock, settings, tokens } = await this.#ready();
    if (sessions.held && clock.now() >= graceEnd(sessions.held, settings.offlineGrace)) {
      // Over by our clock, which may be wrong: the server's word counts, where it can be had.
      await tokens.use().catch(() => 0);
    }
    return isLiving(this.state);
  }

  /** Validates a token by the rules of one provider. */
  async validateToken(type: string, token: string): Promise<boolean> {
    const { adapters } = await this.#ready();
    return (await adapters.ready(type)).validateToken(token);
  }

  /**
   * A token that was validated for this use; null when somebody has to sign in. Rejects with a `NetworkError` when somebody is
   * signed in and a token can only be had once the server answers.
   */
  async getToken(): Promise<string | null> {
    return (await this.#ready()).tokens.use();
  }

  /** Who is signed in, as the server knows them; null when nobody is. */
  async getCurrentUser(): Promise<CurrentUser | null> {
    const { sessions, connect } = await this.#ready();
    try {
      return await connect(sessions.held?.server).request("/api/users/me", { via: this.fetch });
    } catch (error) {
      if (isLiving(this.state)) throw error;
      return null;
    }
  }

  /** The adapter of a configured type. */
  adapter<K extends string>(type: K): AdapterOf<K> {
    const adapter = this.#engine.adapters.loaded.get(type);
    if (!adapter) throw new AuthError("unsupported", `"${type}" is not configured, or not ready: await initialize().`);
    return adapter as AdapterOf<K>;
  }

  /** Lets go of timers, channels and the storage. The session stays stored. */
  async close(): Promise<void> {
    const { tabs, storage, keys } = this.#engine;
    this.#checks?.stop();
    tabs.close();
    await keys().close();
    await storage.close();
  }

  async #ready(): Promise<Engine> {
    await this.initialize();
    return this.#engine;
  }

  async #start(): Promise<void> {
    const engine = this.#engine;
    const { settings, storage, sessions, connection, attempt, adapters } = engine;
    const { checkInterval, timeout } = settings;
    await storage.initialize();
    if (storage.warning) engine.warn("storage", storage.warning);
    await sessions.reload();

    // What fails, or takes longer than an answer may, is tried again when it is used.
    const ready: Promise<unknown>[] = this.#types.map((type) => attempt("adapter", adapters.ready(type)));
    if (sessions.held?.refreshToken) ready.push(attempt("session", engine.renewal()));
    await Promise.race([Promise.all(ready), sleep(timeout)]);

    if (!checkInterval) return;
    const check = async () => {
      await attempt("logout", engine.flushLogouts());
      await attempt("session", engine.tokens.use());
    };
    this.#checks = startChecks({
      check,
      delay: () => (this.state.status === "offlineGrace" ? Math.min(connection.pause, checkInterval) : checkInterval),
      onWake: connection.answered,
    });
    check();
  }
}
