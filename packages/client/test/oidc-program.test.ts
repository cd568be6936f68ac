import { describe, expect, test } from "vitest";
import { demoAccount, outsiderAccount, visitByProgram } from "../../demo/src/identity-provider/index.ts";
import type { AuthAdapter, SignedIn } from "../src/adapters/adapter.ts";
import { OidcAuthAdapter } from "../src/adapters/oidc.ts";
import { AuthManager } from "../src/auth-manager.ts";
import { ConfigurationError } from "../src/errors.ts";
import type { AuthManagerOptions } from "../src/options.ts";
import { MemoryAuthStorageAdapter } from "../src/storage/memory.ts";
import { adapterConformance } from "../src/testing/index.ts";
import { FaultyNetwork } from "./kit/faulty-network.ts";
import { useProgramme } from "./kit/programme.ts";

const redirectUri = "http://localhost:9/app";
const programme = useProgramme(() => [redirectUri]);

/** A program that opens the provider's pages in a browser of its own, and learns where that was sent. */
function person({ username, password } = demoAccount): NonNullable<AuthManagerOptions["navigate"]> {
  return (url) => {
    const isLogout = /logout/.test(new URL(url).pathname);
    return isLogout ? undefined : visitByProgram(url, { username, password, redirectUri });
  };
}

async function open(options: AuthManagerOptions = {}, more: Readonly<Record<string, string>> = {}, tenantId = "kenya") {
  const configs = programme.configs(tenantId, { redirect_uri: redirectUri, ...more });
  const storage = new MemoryAuthStorageAdapter(tenantId);
  const settings = { checkInterval: 0, navigate: person(), ...options };
  const auth = new AuthManager(configs, programme.service.url, storage, settings);
  await auth.initialize();
  return { auth, storage };
}

describe.each(["oidc_a", "oidc_b"] as const)("%s, from a program", (type) => {
  describe("the suite of AuthAdapter", () => {
    const network = new FaultyNetwork();
    const subject = {
      create: async () => (await open({ fetch: network.fetch })).auth.adapter(type),
      signIn: (adapter: AuthAdapter): Promise<SignedIn> => adapter.login(null),
      network: { down: () => network.goDown(), up: () => network.comeBack() },
    };
    for (const { name, run, skip } of adapterConformance(subject)) test.skipIf(skip !== undefined)(name, run);
  });

  test("login resolves where the app knows what came of it", async () => {
    const { auth, storage } = await open();
    expect(await auth.login(null, type)).toMatchObject({ username: "Wambui Kariuki" });
    expect(auth.state).toMatchObject({ status: "signedIn", provider: type });
    expect(await storage.get(type)).toMatchObject({ keyId: expect.any(String), server: programme.service.url });
    expect(await auth.getCurrentUser()).toMatchObject({ tenantId: "kenya", username: "Wambui Kariuki" });
    await auth.logout();
    expect(await storage.get(type)).toBeNull();
    await auth.close();
  });

  test("the service away between the provider and the session: the same callback works once it is back", async () => {
    const network = new FaultyNetwork();
    let callback = "";
    const navigate = async (url: string) => {
      callback = (await person()(url)) ?? "";
      return callback;
    };
    const { auth } = await open({ navigate, fetch: network.fetch });
    network.fate = (path) => (path === "/api/auth/oidc/exchange" ? "lose-request" : "deliver");
    await expect(auth.login(null, type)).rejects.toMatchObject({ code: "unreachable" });
    expect(auth.state).toMatchObject({ status: "signedOut" });
    network.comeBack();
    expect(await auth.handleCallback(type, callback)).toMatchObject({ username: "Wambui Kariuki" });
    await auth.close();
  });

  test("without a page or a way to show one, login says what to do", async () => {
    const configs = programme.configs("kenya");
    const bare = new AuthManager(configs, programme.service.url, new MemoryAuthStorageAdapter("kenya"));
    await expect(bare.login(null, type)).rejects.toMatchObject({
      code: "unsupported",
      message: expect.stringMatching(/option navigate/),
    });
    const settings = { checkInterval: 0, navigate: person() };
    const noAddress = new AuthManager(configs, programme.service.url, new MemoryAuthStorageAdapter("kenya"), settings);
    await expect(noAddress.login(null, type)).rejects.toMatchObject({ field: `${type}.redirect_uri` });
    await Promise.all([bare.close(), noAddress.close()]);
  });
});

test("who is no member of the organization is refused by the provider, as a typed error", async () => {
  const { auth } = await open({ navigate: person(outsiderAccount) });
  await expect(auth.login(null, "oidc_a")).rejects.toMatchObject({
    code: "access_denied",
    message: expect.stringMatching(/juma is not part of the org_demo organization/),
  });
  expect(auth.state).toEqual({ status: "signedOut", reason: "never" });
  await auth.close();
});

test("a provider that names another organization, or answers another sign-in, is not believed", async () => {
  const network = new FaultyNetwork();
  for (const change of [
    { org_id: "ORG_DEMO" },
    { org_id: ["org_demo"] },
    { iss: programme.hosted.authority },
    { aud: "uganda-app" },
    { nonce: "another" },
  ]) {
    const navigate = async (url: string) => {
      const nonce = new URL(url).searchParams.get("nonce");
      const claims = { iss: programme.hosted.issuers[0], aud: "kenya-app", sub: "x", org_id: "org_demo", nonce };
      const id_token = await programme.hosted.sign({ ...claims, ...change });
      const body = { access_token: "x", token_type: "Bearer", id_token };
      network.fate = (path) => (path === "/oauth/token" ? { status: 200, body } : "deliver");
      return person()(url);
    };
    const { auth } = await open({ navigate, fetch: network.fetch });
    await expect(auth.login(null, "oidc_a")).rejects.toMatchObject({
      code: "provider_error",
      message: expect.stringMatching(new RegExp(`the ${Object.keys(change)[0]} of its ID token`)),
    });
    await auth.close();
  }
  expect(network.to("/api/auth/oidc/exchange")).toHaveLength(0);
});

test("the names of product families are accepted as keys", async () => {
  const [hosted, realm] = programme.configs("kenya", { redirect_uri: redirectUri });
  const configs = [
    { type: "auth0", fields: hosted?.fields ?? {} },
    { type: "keycloak", fields: realm?.fields ?? {} },
  ];
  const settings = { checkInterval: 0, navigate: person() };
  const auth = new AuthManager(configs, programme.service.url, new MemoryAuthStorageAdapter("kenya"), settings);
  for (const type of ["auth0", "keycloak"]) {
    expect(await auth.login(null, type)).toMatchObject({ username: "Wambui Kariuki" });
    expect(auth.state).toMatchObject({ provider: type });
  }
  expect(auth.adapter("keycloak")).toBeInstanceOf(OidcAuthAdapter);
  await auth.close();
});

describe("a token of the provider itself, by the local rules", () => {
  /** The local rules alone: the server is away. */
  class Rules extends OidcAuthAdapter {
    judge(claims: Record<string, unknown>): Promise<boolean> {
      return this.validateClaims(claims);
    }
  }
  const soon = Math.floor(Date.now() / 1000) + 60;

  async function rulesOf(type: "oidc_a" | "oidc_b"): Promise<Rules> {
    const { auth } = await open();
    const config = programme.configs("kenya").find((one) => one.type === type);
    let rules: Rules | undefined;
    const key = `rules-${type}-${Math.random()}`;
    AuthManager.register(key, (_, context) => {
      rules = new Rules(config as never, context);
      return rules;
    });
    const other = new AuthManager(
      [{ type: key, fields: {} }],
      programme.service.url,
      new MemoryAuthStorageAdapter("kenya"),
    );
    await Promise.all([auth.close(), other.close()]);
    return rules as Rules;
  }

  test("oidc_a wants the issuer, the organization, the audience and the client", async () => {
    const rules = await rulesOf("oidc_a");
    const good = {
      iss: `${programme.hosted.authority}/`,
      aud: ["https://fieldgate.example/api"],
      azp: "kenya-app",
      org_id: "org_demo",
      exp: soon,
    };
    expect(await rules.judge(good)).toBe(true);
    for (const bad of [
      { iss: `${programme.hosted.authority}//` },
      { org_id: undefined, org_name: "org_demo" },
      { org_id: ["org_demo"] },
      { org_id: "Org_Demo" },
      { azp: "uganda-app" },
      { aud: "kenya-app" },
      { exp: soon - 120 },
    ]) {
      expect(await rules.judge({ ...good, ...bad }), JSON.stringify(bad)).toBe(false);
    }
  });

  test("oidc_b wants the realm's issuer and a Bearer token of the client", async () => {
    const rules = await rulesOf("oidc_b");
    const good = { iss: programme.realms.issuers[0], azp: "kenya-app", typ: "Bearer", exp: soon };
    expect(await rules.judge(good)).toBe(true);
    for (const bad of [
      { iss: programme.realms.issuers[1] },
      { iss: `${programme.realms.issuers[0]}/` },
      { typ: "ID" },
      { azp: "uganda-app" },
      { exp: soon - 120 },
    ]) {
      expect(await rules.judge({ ...good, ...bad }), JSON.stringify(bad)).toBe(false);
    }
  });
});

describe("wrong configuration fails at construction and names the field", () => {
  const good = { authority: "https://login.example.org", client_id: "app", organization: "org_1", realm: "r" };
  test.each([
    ["oidc_a", { authority: undefined }, "oidc_a.authority"],
    ["oidc_a", { authority: "http://login.example.org" }, "oidc_a.authority"],
    ["oidc_a", { organization: "" }, "oidc_a.organization"],
    ["auth0", { organization: undefined }, "auth0.organization"],
    ["oidc_b", { client_id: undefined }, "oidc_b.client_id"],
    ["keycloak", { realm: undefined }, "keycloak.realm"],
  ])("%s %o", (type, change, field) => {
    const fields = { ...good, ...change } as Record<string, string>;
    const construct = () => new AuthManager([{ type, fields }], "https://auth.example.org");
    expect(construct).toThrow(ConfigurationError);
    expect(construct).toThrow(`${field}: `);
  });
});
