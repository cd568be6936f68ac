import { openKeyDatabase } from "#default-keys";
import type { AdapterConfig, AdapterContext, AuthAdapter } from "./adapters/adapter.ts";
import { type Adapters, createAdapters } from "./adapters/adapters.ts";
import { type ApiClient, createApiClient } from "./api-client.ts";
import { type Connection, createConnection } from "./connection.ts";
import { type AuthError, NetworkError } from "./errors.ts";
import type { KeyDatabase } from "./keys/key-database.ts";
import { once } from "./once.ts";
import { type AuthManagerOptions, resolveOptions, type Settings } from "./options.ts";
import type { Renewal } from "./renewal/renewal.ts";
import { createServerClock, type ServerClock } from "./server-clock.ts";
import { createSessions, type Sessions } from "./sessions.ts";
import { createSignIn, type SignIn } from "./sign-in.ts";
import { type AuthWarning, createStateStore, type StateStore } from "./state-store.ts";
import type { AuthStorageAdapter, StorageExtras, StoredSession } from "./storage/storage.ts";
import { joinTabs, type Tabs } from "./tabs.ts";
import { createTokenCheck, type TokenCheck } from "./token-check.ts";
import { createTokenSource, type TokenSource } from "./token-source.ts";
import { checkUrl } from "./urls.ts";

/** What is behind an AuthManager, and what its parts are given. */
export interface Engine extends StateStore {
  readonly settings: Settings;
  readonly server: string;
  readonly storage: AuthStorageAdapter & StorageExtras;
  /** What names the tenant in a body; empty for the default tenant. */
  readonly tenant: { readonly tenantId?: string };
  readonly clock: ServerClock;
  readonly connection: Connection;
  keys(): KeyDatabase;
  /** The client of a service; of the main one by default. */
  connect(url?: string): ApiClient;
  /** The services this manager speaks to, by their base URLs. */
  readonly servers: ReadonlyMap<string, ApiClient>;
  /** Told of every answer about the session, and of every failure to get one. */
  onAnswer(error?: AuthError): void;
  /** Waits for what is not vital: a failure becomes a warning. */
  attempt<T>(about: AuthWarning["about"], work: Promise<T>): Promise<T | undefined>;
  readonly tabs: Tabs;
  readonly sessions: Sessions;
  readonly tokenCheck: TokenCheck;
  readonly signIn: SignIn;
  /** Drops what belongs to a session that is not wanted any more, and notes it for the server. */
  discard(session: Partial<StoredSession>): Promise<void>;
  /** Tells the server of the logouts it has not heard of. */
  flushLogouts(): Promise<void>;
  /** What sessions with a refresh token need, loaded when there is one. */
  renewal(): Promise<Renewal>;
  readonly tokens: TokenSource;
  readonly adapters: Adapters;
  adapterOf(provider: string): Promise<AuthAdapter>;
  /** Removes the session of one provider, or of all, and tells the server now or later. Gives what was removed. */
  signOut(provider?: string): Promise<readonly StoredSession[]>;
}

/** Wires the parts together: who is given what, and in which order they are made. */
export function createEngine(
  configs: readonly AdapterConfig[],
  serverBaseUrl: string,
  storage: AuthStorageAdapter & StorageExtras,
  options: AuthManagerOptions,
  initialize: () => Promise<void>,
): Engine {
  const settings = resolveOptions(options);
  const server = checkUrl("serverBaseUrl", serverBaseUrl);
  const { tenantId } = storage;
  const clock = createServerClock(settings.now);
  const connection = createConnection();
  const apis = new Map<string, ApiClient>();
  let keyDatabase: KeyDatabase | undefined;

  const connect = (url = server): ApiClient => {
    const api = apis.get(url) ?? createApiClient(url, { ...settings, clock });
    apis.set(url, api);
    return api;
  };
  connect();

  const engine = Object.assign(createStateStore(), {
    settings,
    server,
    storage,
    tenant: tenantId ? { tenantId } : {},
    clock,
    connection,
    connect,
    servers: apis,
    keys() {
      keyDatabase ??= options.keys ?? storage.keys?.() ?? openKeyDatabase(tenantId);
      return keyDatabase;
    },
    renewal: once(async () => {
      try {
        return (await import("./renewal/renewal.ts")).createRenewal(engine);
      } catch (cause) {
        throw new NetworkError("A script did not load.", { cause });
      }
    }),
    onAnswer(error?: AuthError) {
      connection.answered(error);
      if (error) engine.tokens.unreachable();
    },
    attempt: <T>(about: AuthWarning["about"], work: Promise<T>) => work.catch((cause) => engine.warn(about, cause)),
    // A session whose provider is no longer configured is judged by the rules that all our tokens share.
    adapterOf: (provider: string) => engine.adapters.ready(engine.adapters.isKnown(provider) ? provider : "password"),
    async discard(session: Partial<StoredSession>) {
      if (!session.keyId && !session.refreshToken) return;
      await engine.attempt(
        "logout",
        engine.renewal().then((renewal) => renewal.discard(session)),
      );
    },
    async flushLogouts() {
      // The part that sends them is not loaded for nothing.
      if ((await engine.keys().list("logout")).length > 0) await (await engine.renewal()).flush();
    },
    async signOut(provider?: string) {
      const ended = await engine.sessions.clear(provider, engine.discard);
      await engine.attempt("logout", engine.flushLogouts());
      for (const { server: from, refreshToken, token } of ended) {
        // Without a refresh token the access token itself names the session. It is not kept: it soon ends by itself.
        if (token && !(refreshToken && globalThis.crypto?.subtle)) {
          const request = { method: "POST", token, keepalive: true } as const;
          await engine.attempt("logout", connect(from).request("/api/users/logout", request));
        }
      }
      return ended;
    },
  }) as unknown as { -readonly [Part in keyof Engine]: Engine[Part] };

  engine.tabs = joinTabs(engine);
  engine.sessions = createSessions(engine);
  engine.tokenCheck = createTokenCheck(engine);
  engine.signIn = createSignIn(engine);
  engine.tokens = createTokenSource(engine);
  engine.adapters = createAdapters(
    configs,
    (provider): AdapterContext => ({
      ...settings,
      provider,
      tenantId,
      serverBaseUrl: server,
      keys: engine.keys,
      now: () => clock.now(),
      deviceNow: settings.now,

      connect: (url) => connect(checkUrl(`${provider}.serverUrl`, url)),
      checkToken: engine.tokenCheck.check,
      session: () => storage.get(provider),
      async currentToken() {
        await initialize();
        return engine.tokens.use();
      },
      async signIn(run, signInOptions) {
        await initialize();
        return engine.signIn(provider, run, signInOptions);
      },
      signOut: () => engine.signOut(provider),
    }),
  );
  return engine;
}
