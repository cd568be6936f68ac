import type { BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { demoAccount, type IdentityProvider } from "../../demo/src/identity-provider/index.ts";
import { chromiumPath, useChromium } from "./kit/chromium.ts";
import { type PageServer, servePages } from "./kit/page-server.ts";
import { useProgramme } from "./kit/programme.ts";

type Fields = Readonly<Record<string, string>>;
type OidcType = "oidc_a" | "oidc_b";

describe.skipIf(chromiumPath === null)("a worker signs in at an identity provider, in Chromium", () => {
  let pages: PageServer;
  beforeAll(async () => {
    pages = await servePages();
  });
  const programme = useProgramme(() => [`${pages.url}/`]);
  const chromium = useChromium();
  let context: BrowserContext;
  let page: Page;
  beforeEach(async () => {
    context = await chromium.browser.newContext();
    page = await context.newPage();
  });
  afterEach(async () => {
    for (const provider of [programme.hosted, programme.realms]) await provider.comeUp();
    await context.close();
  });
  afterAll(() => pages?.close());

  const providerOf = (type: OidcType): IdentityProvider => (type === "oidc_a" ? programme.hosted : programme.realms);
  const tokenRequests = () =>
    [...programme.hosted.requests, ...programme.realms.requests].filter((request) =>
      /^POST .*\/(openid-connect|oauth)\/token$/.test(request),
    ).length;

  /** Makes a manager in the page, as `auth`, whose clock can be moved by `offset`. */
  async function boot(tenantId = "kenya", more: Fields = {}, at: Page = page): Promise<void> {
    await at.waitForFunction(() => "kit" in globalThis);
    const configs = programme.configs(tenantId, more);
    await at.evaluate(
      async ({ ways, server, tenant }) => {
        const storage = new kit.IndexedDbAuthStorageAdapter(tenant);
        const device = { offset: 0 };
        const now = () => Date.now() + device.offset;
        globalThis.auth = new kit.AuthManager(ways, server, storage, { checkInterval: 0, now });
        Object.assign(globalThis, { storage, device });
        await auth.initialize();
      },
      { ways: configs, server: programme.service.url, tenant: tenantId },
    );
  }

  async function open(path = "/", tenantId?: string, more?: Fields): Promise<void> {
    await page.goto(pages.url + path);
    await boot(tenantId, more);
  }

  /** Begins a sign-in, and waits for the page to be left. */
  async function leave(type: OidcType): Promise<void> {
    await page.evaluate((key) => void auth.login(null, key), type);
    await page.waitForURL((url) => url.origin !== pages.url);
  }

  async function fillIn(at: Page = page): Promise<void> {
    await at.fill("[name=username]", demoAccount.username);
    await at.fill("[name=password]", demoAccount.password);
    await at.click("[value=sign-in]");
  }

  /** Goes to the provider and comes back, without finishing. Gives the address that the provider sends the person to. */
  async function comeBack(type: OidcType, tenantId?: string, more?: Fields): Promise<string> {
    await leave(type);
    if (new URL(page.url()).pathname.includes("/login/")) await fillIn();
    await page.waitForURL((url) => url.origin === pages.url);
    await boot(tenantId, more);
    return page.url();
  }

  const finish = (type: OidcType, url?: string) =>
    page.evaluate(
      ({ key, address }) =>
        auth.handleCallback(key, address).then(
          ({ username, token }) => ({ username, token, code: "" }),
          ({ code }) => ({ username: "", token: "", code }),
        ),
      { key: type, address: url },
    );
  const state = () => page.evaluate(() => auth.state);
  const getToken = () => page.evaluate(() => auth.getToken());
  const letTokenEnd = () =>
    page.evaluate(() => {
      (globalThis as unknown as { device: { offset: number } }).device.offset += 601_000;
    });
  const stored = (type: OidcType) =>
    page.evaluate(
      (key) =>
        (globalThis as unknown as { storage: InstanceType<typeof kit.IndexedDbAuthStorageAdapter> }).storage.get(key),
      type,
    );

  describe.each(["oidc_a", "oidc_b"] as const)("%s", (type) => {
    test("signs in, comes back to where the worker was, reloads, is renewed, logs out; the provider forgets too", async () => {
      await open("/?tab=households#list");
      await comeBack(type);
      expect(await state()).toEqual({ status: "signedOut", reason: "never" });
      const { username, token } = await finish(type);
      expect(username).toBe("Wambui Kariuki");
      expect(page.url()).toBe(`${pages.url}/?tab=households#list`);
      expect(await state()).toEqual({ status: "signedIn", provider: type, username });
      expect(await page.evaluate(() => auth.getCurrentUser())).toMatchObject({
        tenantId: "kenya",
        kind: "field-worker",
      });

      await page.reload();
      await boot();
      expect(await state()).toEqual({ status: "signedIn", provider: type, username });
      expect(await getToken()).toBe(token);
      await letTokenEnd();
      const renewed = await getToken();
      expect(renewed).not.toBe(token);
      expect(await page.evaluate((given) => auth.validateToken("oidc_a", given ?? ""), renewed)).toBe(true);

      await page.evaluate(() => void auth.logout());
      await page.waitForURL(`${pages.url}/`);
      await boot();
      expect(await state()).toEqual({ status: "signedOut", reason: "never" });
      expect(await stored(type)).toBeNull();
      // With a session of its own the provider would not ask.
      await leave(type);
      expect(await page.locator("[name=password]").isVisible()).toBe(true);
    });

    test("the same callback again gives the same session, also two at once; a code is redeemed once", async () => {
      await open();
      const url = await comeBack(type);
      const before = tokenRequests();
      const [one, two] = await Promise.all([finish(type, url), finish(type, url)]);
      expect(one).toMatchObject({ username: "Wambui Kariuki", code: "" });
      expect(two).toEqual(one);
      await page.goto(url);
      await boot();
      expect(await finish(type)).toEqual(one);
      expect(page.url()).toBe(`${pages.url}/`);
      expect(tokenRequests() - before).toBe(1);
    });

    test("a callback is good for the tenant that began it, for its provider, and for ten minutes", async () => {
      await open();
      const url = await comeBack(type);
      const before = tokenRequests();
      expect(await finish(type === "oidc_a" ? "oidc_b" : "oidc_a")).toMatchObject({ code: "sign_in_expired" });
      await boot("uganda");
      expect(await finish(type, url)).toMatchObject({ code: "sign_in_expired" });
      expect(await state()).toEqual({ status: "signedOut", reason: "never" });
      await boot("kenya");
      await letTokenEnd();
      expect(await finish(type, url)).toMatchObject({ code: "sign_in_expired" });
      expect(tokenRequests()).toBe(before);
    });

    test("with session: provider the provider's own tokens are kept, renewed, and end when it says so", async () => {
      const own = { session: "provider" };
      await open("/", "kenya", own);
      await comeBack(type, "kenya", own);
      const { username, token } = await finish(type);
      expect(username).toBe("Wambui Kariuki");
      const { iss } = JSON.parse(atob(token.split(".")[1]?.replace(/-/g, "+").replace(/_/g, "/") ?? ""));
      expect(iss).toBe(providerOf(type).issuers[0]);
      expect(await page.evaluate(() => auth.getCurrentUser())).toMatchObject({ tenantId: "kenya" });
      await page.reload();
      await boot("kenya", own);
      expect(await getToken()).toBe(token);
      // The provider's tokens live for five minutes, the refresh of which goes to the provider.
      await page.evaluate(() => {
        (globalThis as unknown as { device: { offset: number } }).device.offset += 299_000;
      });
      const renewed = await getToken();
      expect(renewed).not.toBe(token);
      await providerOf(type).revoke(demoAccount.username);
      await page.evaluate(() => {
        (globalThis as unknown as { device: { offset: number } }).device.offset += 299_000;
      });
      expect(await getToken()).toBeNull();
      expect(await state()).toMatchObject({ status: "expired", reason: "invalid_grant" });
    });
  });

  describe("whichever the provider is", () => {
    const type = "oidc_a";

    test("a person who cancels is back, signed out, with an error that says so", async () => {
      await open("/?a=1");
      await leave(type);
      await page.click("[value=cancel]");
      await page.waitForURL((url) => url.origin === pages.url);
      await boot();
      expect(await finish(type)).toMatchObject({ code: "access_denied" });
      expect(await state()).toEqual({ status: "signedOut", reason: "never" });
      expect(page.url()).toBe(`${pages.url}/`);
    });

    test("a callback that names another issuer is refused before its code is sent anywhere", async () => {
      await open();
      const url = new URL(await comeBack(type));
      const before = tokenRequests();
      expect(url.searchParams.get("iss")).toBe(providerOf(type).issuers[0]);
      url.searchParams.set("iss", "https://evil.example");
      expect(await finish(type, url.href)).toMatchObject({ code: "provider_error" });
      url.searchParams.delete("iss");
      // It was good for one return.
      expect(await finish(type, url.href)).toMatchObject({ code: "sign_in_expired" });
      expect(tokenRequests()).toBe(before);
      expect(await state()).toEqual({ status: "signedOut", reason: "never" });
    });

    test("a provider that is away: an error at login and at the callback, which can be tried again", async () => {
      await open();
      await providerOf(type).goDown();
      const failed = () => page.evaluate((key) => auth.login(null, key).catch(({ code }) => code), type);
      expect(await failed()).toBe("unreachable");
      expect(await state()).toEqual({ status: "signedOut", reason: "never" });
      expect(page.url()).toBe(`${pages.url}/`);
      await providerOf(type).comeUp();
      const url = await comeBack(type);
      await providerOf(type).goDown();
      expect(await finish(type)).toMatchObject({ code: "unreachable" });
      expect(page.url()).toBe(url);
      await providerOf(type).comeUp();
      expect(await finish(type)).toMatchObject({ username: "Wambui Kariuki" });
    });

    test("a window of its own: the page stays, and is signed in when the window closes", async () => {
      await open("/?stay", "kenya", { display: "popup" });
      const opened = page.waitForEvent("popup");
      const done = page.evaluate((key) => auth.login(null, key), type);
      const popup = await opened;
      await fillIn(popup);
      await popup.waitForURL((url) => url.origin === pages.url);
      await boot("kenya", { display: "popup" }, popup);
      const closed = popup.waitForEvent("close");
      await popup.evaluate((key) => void auth.handleCallback(key), type);
      await closed;
      expect(await done).toMatchObject({ username: "Wambui Kariuki" });
      expect(await state()).toMatchObject({ status: "signedIn", provider: type });
      expect(page.url()).toBe(`${pages.url}/?stay`);
      expect((await stored(type))?.refreshToken).toBeTruthy();
    });
  });

  test("who is signed in at the provider is not asked again; prompt=login asks, on shared devices", async () => {
    await open();
    await comeBack("oidc_b");
    await finish("oidc_b");
    await page.evaluate((key) => void auth.login(null, key), "oidc_b");
    await page.waitForURL((url) => url.searchParams.has("code"));
    await page.goto(pages.url);
    await boot("kenya", { prompt: "login" });
    await leave("oidc_b");
    expect(await page.locator("[name=password]").isVisible()).toBe(true);
  });

  test("a popup that is closed is a cancelled sign-in", async () => {
    await open("/", "kenya", { display: "popup" });
    const opened = page.waitForEvent("popup");
    const failed = page.evaluate(() => auth.login(null, "oidc_a").catch(({ code }) => code));
    await (await opened).close();
    expect(await failed).toBe("access_denied");
    expect(await state()).toEqual({ status: "signedOut", reason: "never" });
  });

  test("logout clears the storage also when the provider is away, and stays on the page", async () => {
    await open();
    await comeBack("oidc_a");
    await finish("oidc_a");
    await programme.hosted.goDown();
    await page.evaluate(() => auth.logout());
    expect(await state()).toEqual({ status: "signedOut", reason: "logout" });
    expect(await stored("oidc_a")).toBeNull();
    expect(page.url()).toBe(`${pages.url}/`);
  });

  test("nobody is sent to another site afterwards, whatever the callback says", async () => {
    await open();
    const url = new URL(await comeBack("oidc_a"));
    url.searchParams.set("returnTo", "https://evil.example");
    await page.goto(url.href);
    await boot();
    expect(await finish("oidc_a")).toMatchObject({ username: "Wambui Kariuki" });
    expect(page.url()).toBe(`${pages.url}/`);
  });
});
