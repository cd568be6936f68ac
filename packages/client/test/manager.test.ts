import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { AdapterContext, AuthAdapter } from "../src/adapters/adapter.ts";
import { ServerAuthAdapter } from "../src/adapters/server-adapter.ts";
import { AuthManager } from "../src/auth-manager.ts";
import type { Claims } from "../src/encoding.ts";
import { AuthError, ConfigurationError } from "../src/errors.ts";
import { MemoryAuthStorageAdapter } from "../src/storage/memory.ts";
import type { AuthStorageAdapter, StoredSession } from "../src/storage/storage.ts";
import { adapterConformance, storageConformance } from "../src/testing/index.ts";
import { FaultyNetwork, paths } from "./kit/faulty-network.ts";
import { amina, useService, wait } from "./kit/service.ts";

describe("wrong configuration fails at construction and names the field", () => {
  const cases: [string, () => unknown, RegExp][] = [
    ["no URL", () => new AuthManager([], "auth.example.org"), /serverBaseUrl: .*"auth.example.org"/],
    ["http elsewhere", () => new AuthManager([], "http://auth.example.org"), /serverBaseUrl: .* must be https/],
    ["a query", () => new AuthManager([], "https://auth.example.org?x=1"), /serverBaseUrl: .* no query/],
    [
      "unknown type",
      () => new AuthManager([{ type: "sms", fields: {} }], "https://a.example"),
      /configs\[0\].type: .*"sms"/,
    ],
    ["no serverUrl", () => new AuthManager([{ type: "otp", fields: {} }], "https://a.example"), /otp.serverUrl: /],
    [
      "http serverUrl",
      () => new AuthManager([{ type: "id", fields: { serverUrl: "http://b.example" } }], "https://a.example"),
      /id.serverUrl: .* must be https/,
    ],
    [
      "twice",
      () => {
        const otp = { type: "otp", fields: { serverUrl: "https://a.example" } };
        return new AuthManager([otp, otp], "https://a.example");
      },
      /configs\[1\].type: .*"otp" is configured twice/,
    ],
    [
      "trusted origin",
      () => new AuthManager([], "https://a.example", undefined, { trustedOrigins: ["http://c.example"] }),
      /trustedOrigins\[0\]: /,
    ],
  ];
  test.each(cases)("%s", (_, construct, message) => {
    expect(construct).toThrow(ConfigurationError);
    expect(construct).toThrow(message);
  });

  test("a key of the registry cannot be replaced", () => {
    for (const key of ["otp", "id", "password", "oidc_a", "oidc_b"]) {
      expect(() => AuthManager.register(key, () => ({}) as AuthAdapter)).toThrow(`"${key}" is taken`);
    }
    AuthManager.register("once", () => ({}) as AuthAdapter);
    expect(() => AuthManager.register("once", () => ({}) as AuthAdapter)).toThrow(/"once" is taken/);
  });

  test("http on loopback is fine", () => {
    for (const url of ["http://localhost:3000", "http://127.0.0.1:3000/", "http://[::1]:3000", "http://a.localhost"]) {
      expect(() => new AuthManager([], url)).not.toThrow();
    }
    for (const url of ["http://127.0.0.1.example.org", "http://localhost.example.org", "http://10.0.0.1"]) {
      expect(() => new AuthManager([], url)).toThrow(/must be https/);
    }
  });
});

describe("fetch", () => {
  const service = useService();
  const foreign = createServer((request, response) => {
    seen.push(`${request.method} ${request.url} ${request.headers.authorization ?? "no token"}`);
    if (request.url === "/away") response.writeHead(302, { location: "/elsewhere" });
    else if (request.url === "/refuse") response.writeHead(401);
    response.end();
  });
  const seen: string[] = [];
  let foreignUrl: string;
  beforeAll(async () => {
    await new Promise<void>((resolve) => foreign.listen(0, "127.0.0.1", resolve));
    foreignUrl = `http://127.0.0.1:${(foreign.address() as AddressInfo).port}`;
  });
  afterAll(() => foreign.close());

  test("adds the token to requests to the server, relative ones too", async () => {
    const { auth } = service.manager();
    await auth.login(amina);
    expect((await auth.fetch("/api/users/me")).status).toBe(200);
    expect((await auth.fetch(`${service.url}/api/users/me`)).status).toBe(200);
    expect((await auth.fetch(new Request(`${service.url}/api/users/me`))).status).toBe(200);
    expect((await auth.fetch(new URL(`${service.url}/api/users/me`))).status).toBe(200);
  });

  test("sends the token nowhere else", async () => {
    const { auth } = service.manager();
    await auth.login(amina);
    await expect(auth.fetch(`${foreignUrl}/x`)).rejects.toMatchObject({ code: "untrusted_origin" });
    await expect(auth.fetch("//example.org/x")).rejects.toMatchObject({ code: "untrusted_origin" });
    expect(seen).toEqual([]);
  });

  test("sends it to trusted origins, and follows no redirect with it", async () => {
    const { auth } = service.manager({ trustedOrigins: [foreignUrl] });
    const { token } = await auth.login(amina);
    expect((await auth.fetch(`${foreignUrl}/x`, { method: "POST", body: "1" })).status).toBe(200);
    await expect(auth.fetch(`${foreignUrl}/away`)).rejects.toThrow();
    await expect(auth.fetch(`${foreignUrl}/away`, { redirect: "follow" })).rejects.toThrow();
    expect(seen.splice(0)).toEqual([
      `POST /x Bearer ${token}`,
      `GET /away Bearer ${token}`,
      `GET /away Bearer ${token}`,
    ]);
  });

  test("rejects when nobody is signed in", async () => {
    const { auth } = service.manager();
    await expect(auth.fetch("/api/users/me")).rejects.toMatchObject({ code: "not_signed_in" });
  });

  test("tries once more with a renewed token, body and all, and hands on a second refusal", async () => {
    const { auth } = service.manager({ trustedOrigins: [foreignUrl] });
    const { token } = await auth.login(amina);
    const response = await auth.fetch(`${foreignUrl}/refuse`, { method: "POST", body: "data" });
    expect(response.status).toBe(401);
    expect(seen).toHaveLength(2);
    expect(seen[0]).toBe(`POST /refuse Bearer ${token}`);
    expect(seen[1]).not.toBe(seen[0]);
    expect(auth.state.status).toBe("signedIn");
    seen.length = 0;
  });

  test("notices a session that was ended meanwhile", async () => {
    const { auth, storage } = service.manager();
    await auth.login(amina);
    const refreshToken = (await storage.get("password"))?.refreshToken;
    await service.node.api.logout({ body: { refreshToken } });
    expect((await auth.fetch("/api/users/me")).status).toBe(401);
    expect(auth.state).toMatchObject({ status: "expired", reason: "session_revoked" });
  });
});

describe("refusals arrive as typed errors", () => {
  const service = useService();

  test("with the code, the status and the sentence of the service", async () => {
    const { auth } = service.manager();
    const error = await auth.login({ username: "amina", password: "wrong" }).catch((e) => e);
    expect(error).toBeInstanceOf(AuthError);
    expect(error).toMatchObject({ code: "invalid_credentials", status: 401 });
    expect(error.message).toMatch(/username or the password/);
    expect(auth.state).toEqual({ status: "signedOut", reason: "never" });
  });

  test("with the seconds to wait", async () => {
    const { auth } = service.manager();
    const guess = () => auth.login({ username: "bilal", password: "wrong" }).catch((e) => e);
    let error = await guess();
    for (let round = 0; round < 12 && error.status !== 429; round++) error = await guess();
    expect(error).toMatchObject({ code: "too_many_attempts", status: 429 });
    expect(error.retryAfter).toBeGreaterThan(0);
  });

  test("a known device keeps its own budget when others guess", async () => {
    const network = new FaultyNetwork();
    const { auth } = service.manager({ network });
    await auth.login(amina);
    await auth.logout();
    await auth.login(amina);
    const logins = network.to(paths.login);
    expect(logins.at(0)?.headers.get("X-Device-Token")).toBeNull();
    expect(logins.at(-1)?.headers.get("X-Device-Token")).toBeTruthy();
  });

  test("a failed sign-in leaves who was signed in before", async () => {
    const { auth } = service.manager();
    const { token } = await auth.login(amina);
    await auth.login({ username: "amina", password: "wrong" }).catch(() => undefined);
    expect(auth.state).toMatchObject({ status: "signedIn", username: "amina" });
    expect(await auth.getToken()).toBe(token);
  });

  test("of another tenant's service is refused by the client itself", async () => {
    const { auth, network } = service.manager();
    network.fate = (path) =>
      path === paths.login
        ? { status: 200, body: { username: "amina", token: "t", tenantId: "other", expiresIn: 60 } }
        : "deliver";
    await expect(auth.login(amina)).rejects.toMatchObject({ code: "tenant_mismatch" });
    expect(auth.state.status).toBe("signedOut");
  });
});

describe("subscribers", () => {
  const service = useService();

  test("hear the state at once and at each change, until they unsubscribe", async () => {
    const { auth } = service.manager();
    const heard: string[] = [];
    const stop = auth.subscribe((state, event) => heard.push(`${state.status} ${event?.type ?? "now"}`));
    await auth.login(amina);
    stop();
    stop();
    await auth.logout();
    expect(heard).toEqual(["uninitialized now", "signedOut restored", "signingIn signInStarted", "signedIn signedIn"]);
  });

  test("never see a token", async () => {
    const { auth, storage, device } = service.manager();
    const heard: unknown[] = [];
    auth.subscribe((...each) => heard.push(each));
    const { token } = await auth.login(amina);
    device.letTokenEnd();
    const renewed = await auth.getToken();
    const { refreshToken } = (await storage.get("password")) ?? {};
    const { auth: later } = service.manager({ storage, device });
    later.subscribe((...each) => heard.push(each));
    await later.initialize();
    await later.logout();
    for (const secret of [token, renewed, refreshToken]) expect(JSON.stringify(heard)).not.toContain(secret);
  });

  test("see one object as long as nothing changes", async () => {
    const { auth } = service.manager();
    await auth.login(amina);
    const { state } = auth;
    await auth.getToken();
    await auth.getToken();
    expect(auth.state).toBe(state);
  });
});

/** A way in of somebody else: a shared word per person, kept by nobody but this class. */
class WordAdapter implements AuthAdapter {
  readonly context: AdapterContext;
  readonly loggedOut: string[] = [];
  static isDown = false;
  isRevoked = false;
  constructor(context: AdapterContext) {
    this.context = context;
  }
  async initialize() {
    if (WordAdapter.isDown) throw new TypeError("fetch failed");
  }
  async login(credentials: { username: string; password: string } | null) {
    if (WordAdapter.isDown) throw new TypeError("fetch failed");
    if (credentials?.password !== "sesame") throw new Error("That is not the word: say sesame.");
    return { username: credentials.username, token: `word-${credentials.username}` };
  }
  async logout() {
    this.loggedOut.push((await this.context.session())?.username ?? "nobody");
  }
  async isAuthenticated() {
    return (await this.context.session()) !== null;
  }
  async validateToken(token: string) {
    if (WordAdapter.isDown) throw new TypeError("fetch failed");
    return token.startsWith("word-") && !this.isRevoked;
  }
  async handleCallback(url: string) {
    return { username: "back", token: `word-${new URL(url).searchParams.get("word")}` };
  }
}

describe("an adapter of somebody else", () => {
  const service = useService();
  let made: WordAdapter[] = [];
  beforeAll(() => {
    AuthManager.register("word", (config, context) => {
      if (!config.fields.greeting) throw new ConfigurationError("greeting", "is missing");
      const adapter = new WordAdapter(context);
      made.push(adapter);
      return adapter;
    });
  });
  const manager = (
    storage: AuthStorageAdapter = new MemoryAuthStorageAdapter("demo"),
    network = new FaultyNetwork(),
  ) => {
    made = [];
    const configs = [{ type: "word", fields: { greeting: "hello" } }];
    return new AuthManager(configs, service.url, storage, { fetch: network.fetch, checkInterval: 0 });
  };
  const aladdin = { username: "aladdin", password: "sesame" };

  test("fails at construction when its own configuration is wrong", () => {
    expect(() => new AuthManager([{ type: "word", fields: {} }], service.url)).toThrow(/greeting: is missing/);
  });

  test("signs in, is validated at each use, and its session is stored and removed as any other", async () => {
    const storage = new MemoryAuthStorageAdapter("demo");
    const auth = manager(storage);
    expect(await auth.login(aladdin, "word")).toEqual({ username: "aladdin", token: "word-aladdin" });
    expect(auth.state).toEqual({ status: "signedIn", provider: "word", username: "aladdin" });
    expect(await storage.get("word")).toMatchObject({ provider: "word", token: "word-aladdin" });
    expect(await auth.getToken()).toBe("word-aladdin");
    expect(await auth.validateToken("word", "word-x")).toBe(true);
    expect(await auth.validateToken("word", "x")).toBe(false);
    await auth.logout();
    expect(await storage.providers()).toEqual([]);
    expect(made[0]?.loggedOut).toHaveLength(1);
    await auth.close();
  });

  test("is not believed to be gone when it only cannot tell", async () => {
    const storage = new MemoryAuthStorageAdapter("demo");
    const auth = manager(storage);
    await auth.login(aladdin, "word");
    const adapter = auth.adapter("word") as WordAdapter;
    WordAdapter.isDown = true;
    expect(await auth.getToken()).toBe("word-aladdin");
    expect(auth.state.status).toBe("offlineGrace");
    WordAdapter.isDown = false;
    expect(await auth.getToken()).toBe("word-aladdin");
    expect(auth.state.status).toBe("signedIn");
    adapter.isRevoked = true;
    expect(await auth.getToken()).toBeNull();
    expect(auth.state).toMatchObject({ status: "expired", reason: "rejected" });
    await auth.close();
  });

  test("that cannot start now is started when it is needed", async () => {
    const auth = manager();
    WordAdapter.isDown = true;
    const warnings: string[] = [];
    auth.subscribe((_, event) => event?.type === "warning" && warnings.push(event.about));
    await auth.initialize();
    expect(warnings).toEqual(["adapter"]);
    await expect(auth.login(aladdin, "word")).rejects.toThrow("fetch failed");
    WordAdapter.isDown = false;
    expect(await auth.login(aladdin, "word")).toMatchObject({ username: "aladdin" });
    await auth.close();
  });

  test("finishes what left the page", async () => {
    const auth = manager();
    expect(await auth.handleCallback("word", "https://app.example/?word=magic")).toEqual({
      username: "back",
      token: "word-magic",
    });
    await expect(auth.handleCallback("password", "https://app.example/")).rejects.toMatchObject({
      code: "unsupported",
    });
    await auth.close();
  });

  test("lives beside the password way; the latest sign-in counts, and logout ends all", async () => {
    const storage = new MemoryAuthStorageAdapter("demo");
    const auth = manager(storage);
    const { token } = await auth.login(amina);
    await wait(5);
    await auth.login(aladdin, "word");
    expect(auth.state).toMatchObject({ provider: "word" });
    expect((await storage.providers()).sort()).toEqual(["password", "word"]);
    const again = new AuthManager([], service.url, storage, { checkInterval: 0 });
    await again.initialize();
    expect(again.state).toMatchObject({ provider: "word" });
    await auth.logout();
    expect(await storage.providers()).toEqual([]);
    expect((await service.node.api.checkToken(token)).status).toBe(401);
    await auth.close();
    await again.close();
  });

  describe("passes the suite", () => {
    const network = {
      down() {
        WordAdapter.isDown = true;
      },
      up() {
        WordAdapter.isDown = false;
      },
    };
    const cases = adapterConformance({
      async create() {
        const auth = manager();
        await auth.initialize();
        const adapter = auth.adapter("word");
        return {
          initialize: () => adapter.initialize(),
          login: (credentials) => auth.login(credentials, "word"),
          logout: () => auth.logout(),
          isAuthenticated: () => adapter.isAuthenticated(),
          validateToken: async (token) => (await adapter.validateToken(token)) && token === "word-aladdin",
        };
      },
      signIn: (adapter) => adapter.login(aladdin),
      network,
    });
    for (const { name, run } of cases) test(name, run);
  });
});

describe("the password way passes the suite of adapters", () => {
  const service = useService();
  const network = new FaultyNetwork();
  const cases = adapterConformance({
    async create() {
      const { auth } = service.manager({ network });
      await auth.initialize();
      return {
        initialize: () => auth.initialize(),
        login: (credentials) => auth.login(credentials),
        logout: () => auth.logout(),
        isAuthenticated: () => auth.isAuthenticated(),
        validateToken: (token) => auth.validateToken("password", token),
      };
    },
    signIn: (adapter) => adapter.login(amina),
    network: { down: () => network.goDown(), up: () => network.comeBack() },
  });
  for (const { name, run } of cases) test(name, run);
});

describe("validation rules of one's own", () => {
  const service = useService();
  class Strict extends ServerAuthAdapter {
    protected readonly waysIn = "the password way";
    minimum = "field-work";
    protected override async validateClaims(claims: Claims) {
      return (await super.validateClaims(claims)) && claims.scope === this.minimum;
    }
  }

  test("are asked at each use, in a frontend and in a backend", async () => {
    AuthManager.register("strict", (_config, context) => new Strict(context.serverBaseUrl, context));
    for (const environment of ["frontend", "backend"] as const) {
      const network = new FaultyNetwork();
      const storage = new MemoryAuthStorageAdapter("demo");
      const options = { fetch: network.fetch, checkInterval: 0, environment };
      const auth = new AuthManager([{ type: "strict", fields: {} }], service.url, storage, options);
      const { token } = await auth.login(amina);
      const strict = auth.adapter("strict") as Strict;
      expect(await auth.validateToken("strict", token)).toBe(true);
      strict.minimum = "everything";
      expect(await auth.validateToken("strict", token)).toBe(false);
      strict.minimum = "field-work";
      network.goDown();
      // A token never seen before, and nobody to ask: a frontend goes by its own rules, a backend does not.
      const other = `${token.slice(0, -3)}AAA`;
      if (environment === "frontend") expect(await auth.validateToken("strict", other)).toBe(true);
      else await expect(auth.validateToken("strict", other)).rejects.toMatchObject({ code: "unreachable" });
      network.comeBack();
      await wait(250);
      expect(await auth.validateToken("strict", other)).toBe(false);
      await auth.close();
    }
  });
});

/** A storage of somebody else, slow and asynchronous as a remote one would be. */
class SlowStorage implements AuthStorageAdapter {
  readonly tenantId: string;
  static readonly tenants = new Map<string, Map<string, string>>();
  constructor(tenantId: string) {
    this.tenantId = tenantId;
  }
  async initialize() {
    await wait(2);
    if (!SlowStorage.tenants.has(this.tenantId)) SlowStorage.tenants.set(this.tenantId, new Map());
  }
  get #rows() {
    return SlowStorage.tenants.get(this.tenantId) as Map<string, string>;
  }
  async get(provider: string): Promise<StoredSession | null> {
    await wait(2);
    return JSON.parse(this.#rows.get(provider) ?? "null");
  }
  async put(provider: string, session: StoredSession) {
    await wait(2);
    this.#rows.set(provider, JSON.stringify(session));
  }
  async replace(provider: string, expectedVersion: number, next: StoredSession) {
    await wait(2);
    const stored: StoredSession | null = JSON.parse(this.#rows.get(provider) ?? "null");
    if (stored?.version !== expectedVersion) return false;
    this.#rows.set(provider, JSON.stringify(next));
    return true;
  }
  async remove(provider?: string) {
    await wait(2);
    if (provider === undefined) this.#rows.clear();
    else this.#rows.delete(provider);
  }
  async providers() {
    await wait(2);
    return [...this.#rows.keys()];
  }
  async close() {}
}

describe("a storage of somebody else", () => {
  const service = useService();

  describe("passes the suite", () => {
    for (const { name, run } of storageConformance({ create: (tenantId) => new SlowStorage(tenantId) }))
      test(name, run);
  });

  test("works with every adapter; keys are kept apart from it", async () => {
    const keys = new MemoryAuthStorageAdapter("demo").keys();
    const storage = new SlowStorage("demo");
    const { auth, device } = service.manager({ storage, keys });
    const { token } = await auth.login(amina);
    device.letTokenEnd();
    expect(await auth.getToken()).not.toBe(token);
    const { auth: later } = service.manager({ storage: new SlowStorage("demo"), keys, device });
    device.letTokenEnd();
    expect(await later.getToken()).toBeTruthy();
    await later.logout();
    expect(await storage.providers()).toEqual([]);
    expect(await keys.list("pair")).toEqual([]);
  });
});
