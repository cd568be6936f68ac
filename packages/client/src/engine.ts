import { openKeyDatabase } from "#default-keys";
import type { AdapterConfig, AdapterContext, AuthAdapter } from "./adapters/adapter.ts";
import { type Adapters, createAdapters } from "./adapters/adapters.ts";
import { type ApiClient, createApiClient } from "./api-client.ts";
import { type Connection, createConnection } from "./connection.ts";
import { type AuthError, NetworkError } from "./errors.ts";
import type { KeyDatabase } from "./keys/key-database.ts";
import { createLogoutQueue, type LogoutQueue } from "./logout-queue.ts";
import { type AuthManagerOptions, resolveOptions, type Settings } from "./options.ts";
import type { Renewal } from "./renewal.ts";
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
  isOurServer(url: string): boolean;
  /** Told of every answer about the session, and of every failure to get one. */
  onAnswer(error?: AuthError): void;
  /** Waits for what is not vital: a failure becomes a warning. */
  attempt<T>(about: AuthWarning["about"], work: Promise<T>): Promise<T | undefined>;
  readonly tabs: Tabs;
  readonly sessions: Sessions;
  readonly tokenCheck: TokenCheck;
  readonly logoutQueue: LogoutQueue;
  readonly signIn: SignIn["signIn"];
  readonly discard: SignIn["discard"];
  /** What sessions with a refresh token need, loaded when there is one. */
  renewal(): Promise<Renewal>;
  readonly tokens: TokenSource;
  readonly adapters: Adapters;
  adapterOf(provider: string): Promise<AuthAdapter>;
  /** Removes the session of one provider, or of all, and tells the server now or later. */
  signOut(provider?: string): Promise<void>;
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
  const { now: deviceNow, fetch, timeout } = settings;
  const { tenantId } = storage;
  const clock = createServerClock(deviceNow);
  const connection = createConnection();
  const apis = new Map<string, ApiClient>();
  let keyDatabase: KeyDatabase | undefined;
  let renewal: Promise<Renewal> | undefined;

  const connect = (url = server): ApiClient => {
    const api = apis.get(url) ?? createApiClient(url, { fetch, timeout, deviceNow, clock });
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
    isOurServer: (url: string) => apis.has(url),
    keys() {
      keyDatabase ??= options.keys ?? storage.keys?.() ?? openKeyDatabase(tenantId);
      return keyDatabase;
    },
    renewal() {
      renewal ??= import("./renewal.ts")
        .then(({ createRenewal }) => createRenewal(engine))
        .catch((cause) => {
          renewal = undefined;
          throw new NetworkError("A part of the client could not be loaded.", { cause });
        });
      return renewal;
    },
    onAnswer(error?: AuthError) {
      connection.answered(error);
      if (error) engine.tokens.unreachable();
    },
    attempt: <T>(about: AuthWarning["about"], work: Promise<T>) => work.catch((cause) => engine.warn(about, cause)),
    // A session whose provider is no longer configured is judged by the rules that all our tokens share.
    adapterOf: (provider: string) =>
      engine.adapters.ready(engine.adapters.types.includes(provider) ? provider : "password"),
    async signOut(provider?: string) {
      const direct: StoredSession[] = [];
      await engine.sessions.clear(provider, async (session) => {
        if (session.refreshToken && globalThis.crypto?.subtle) await engine.discard(session);
        else if (session.token) direct.push(session);
      });
      await engine.attempt("logout", engine.logoutQueue.flush());
      // Without a refresh token the access token itself names the session. It is not kept: it soon ends by itself.
      for (const { server: from, token } of direct) {
        const request = { method: "POST", token, keepalive: true } as const;
        await engine.attempt("logout", connect(from).request("/api/users/logout", request));
      }
    },
  }) as { -readonly [Part in keyof Engine]: Engine[Part] };

  engine.tabs = joinTabs(engine);
  engine.sessions = createSessions(engine);
  engine.tokenCheck = createTokenCheck(engine);
  engine.logoutQueue = createLogoutQueue(engine);
  Object.assign(engine, createSignIn(engine));
  engine.tokens = createTokenSource(engine);
  engine.adapters = createAdapters(
    configs,
    (provider): AdapterContext => ({
      provider,
      tenantId,
      serverBaseUrl: server,
      environment: settings.environment,
      fetch,
      now: () => clock.now(),
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
