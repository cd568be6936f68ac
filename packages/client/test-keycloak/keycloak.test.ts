import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, createServer } from "node:net";
import { text } from "node:stream/consumers";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chromiumPath, useChromium } from "../test/kit/chromium.ts";
import { type PageServer, servePages } from "../test/kit/page-server.ts";
import { useService } from "../test/kit/service.ts";
import { type Keycloak, type RealmUser, startKeycloak } from "./keycloak.ts";

const home = process.env.KEYCLOAK_HOME;
if (!home) {
  process.stderr.write(
    "SKIPPED: set KEYCLOAK_HOME to an unpacked Keycloak. docs/identity-providers.md says how to get one.\n",
  );
}

describe.skipIf(!home || chromiumPath === null)("with a real Keycloak", () => {
  const clientId = "field-app";
  const origins: string[] = [];
  let pages: PageServer;
  let keycloak: Keycloak;
  let wambui: RealmUser;
  let page: Page;
  const told: string[] = [];
  /** Between Keycloak and the service: what is said and answered at the back-channel. */
  const backChannel = createHttpServer(async (request, response) => {
    const answer = await fetch(`${service.url}/api/auth/oidc/backchannel-logout`, {
      method: "POST",
      headers: { "content-type": request.headers["content-type"] ?? "" },
      body: await text(request),
    });
    told.push(`${answer.status} ${await answer.text()}`);
    response.writeHead(answer.status).end();
  });

  beforeAll(async () => {
    await new Promise<void>((resolve) => backChannel.listen(0, "127.0.0.1", resolve));
    pages = await servePages();
    origins.push(pages.url);
    keycloak = await startKeycloak(home ?? "", await freePort());
  }, 330_000);
  const service = useService({ config: { corsOrigins: origins } });
  const chromium = useChromium();
  beforeAll(async () => {
    for (const realm of ["kenya", "uganda"]) {
      await keycloak.addRealm(realm, {
        clientId,
        redirectUris: [`${pages.url}/`],
        webOrigins: ["+"],
        // Only for the tests that want a token without a browser.
        directAccessGrantsEnabled: true,
        attributes: {
          "pkce.code.challenge.method": "S256",
          "post.logout.redirect.uris": "+",
          "backchannel.logout.url": `http://127.0.0.1:${(backChannel.address() as AddressInfo).port}/`,
          "backchannel.logout.session.required": "true",
        },
      });
    }
    wambui = await keycloak.addUser("kenya", { firstName: "Wambui", lastName: "Kariuki" });
    await service.node.addTenant("kenya", { adapters: [adapter()] });
    page = await chromium.browser.newPage();
  }, 120_000);
  afterAll(async () => {
    backChannel.close();
    await keycloak?.close();
    await pages?.close();
  });

  const adapter = (more: Readonly<Record<string, string>> = {}) => ({
    type: "oidc_b",
    fields: { authority: keycloak.url, client_id: clientId, realm: "kenya", ...more },
  });

  async function boot(more?: Readonly<Record<string, string>>): Promise<void> {
    await page.waitForFunction(() => "kit" in globalThis);
    await page.evaluate(
      async ({ ways, server }) => {
        const device = { offset: 0 };
        const now = () => Date.now() + device.offset;
        const storage = new kit.IndexedDbAuthStorageAdapter("kenya");
        globalThis.auth = new kit.AuthManager(ways, server, storage, { checkInterval: 0, now });
        Object.assign(globalThis, { device });
        await auth.initialize();
      },
      { ways: [adapter(more)], server: service.url },
    );
  }

  async function signIn(
    user: RealmUser = wambui,
    more?: Readonly<Record<string, string>>,
  ): Promise<{ username: string; token: string }> {
    await page.goto(pages.url);
    await boot(more);
    await page.evaluate(() => void auth.login(null, "oidc_b"));
    await page.fill("#username", user.username);
    await page.fill("#password", user.password);
    await page.click("#kc-login");
    await page.waitForURL((url) => url.origin === pages.url);
    await boot(more);
    return page.evaluate(() => auth.handleCallback("oidc_b"));
  }

  async function signOut(): Promise<void> {
    // Another address than the one that Keycloak comes back to, so that coming back shows.
    await page.evaluate(() => history.replaceState(null, "", "/?leaving"));
    await page.evaluate(() => void auth.logout());
    await page.waitForURL(`${pages.url}/`);
    await boot();
  }

  const state = () => page.evaluate(() => auth.state);
  const getToken = () => page.evaluate(() => auth.getToken());
  const pass = (seconds: number) =>
    page.evaluate((ms) => {
      (globalThis as unknown as { device: { offset: number } }).device.offset += ms;
    }, seconds * 1000);

  test("a worker signs in, reloads, is renewed, logs out; Keycloak's session is gone", async () => {
    const { username, token } = await signIn();
    expect(username).toBe("Wambui Kariuki");
    expect(page.url()).toBe(`${pages.url}/`);
    await page.reload();
    await boot();
    expect(await getToken()).toBe(token);
    await pass(601);
    expect(await getToken()).not.toBe(token);
    expect(await page.evaluate(() => auth.getCurrentUser())).toMatchObject({ tenantId: "kenya", username });
    await signOut();
    expect(await state()).toMatchObject({ status: "signedOut" });
    await page.evaluate(() => void auth.login(null, "oidc_b"));
    await page.waitForSelector("#password");
  });

  test("an access token of the realm is accepted as Bearer, one of another realm is not", async () => {
    const juma = await keycloak.addUser("uganda", { firstName: "Juma", lastName: "Hassan" });
    const own = await keycloak.tokens("kenya", clientId, wambui);
    const other = await keycloak.tokens("uganda", clientId, juma);
    expect(await service.node.api.checkToken(own.access_token)).toMatchObject({ status: 200 });
    expect(await service.node.api.checkToken(other.access_token)).toMatchObject({ status: 401 });
  });

  test("after a rotation of the realm's keys people sign in as before", async () => {
    const before = await keycloak.tokens("kenya", clientId, wambui);
    await keycloak.rotateKeys("kenya");
    const after = await keycloak.tokens("kenya", clientId, wambui);
    const kid = ({ access_token }: { access_token: string }) =>
      JSON.parse(Buffer.from(access_token.split(".")[0] ?? "", "base64url").toString()).kid;
    expect(kid(after)).not.toBe(kid(before));
    expect(await signIn()).toMatchObject({ username: "Wambui Kariuki" });
    expect(await service.node.api.checkToken(before.access_token)).toMatchObject({ status: 200 });
    await signOut();
  });

  test("a session that an administrator ends is over here too, by back-channel logout", async () => {
    const amina = await keycloak.addUser("kenya", { firstName: "Amina", lastName: "Otieno" });
    const { token } = await signIn(amina);
    expect(await service.node.api.checkToken(token)).toMatchObject({ status: 200 });
    told.length = 0;
    await keycloak.endSessions("kenya", amina);
    await expect.poll(() => told, { timeout: 20_000 }).toEqual([expect.stringMatching(/^20[04]/)]);
    const status = async () => (await service.node.api.checkToken(token)).status;
    await expect.poll(status, { timeout: 20_000 }).toBe(401);
    await pass(601);
    expect(await getToken()).toBeNull();
    expect(await state()).toMatchObject({ status: "expired" });
  });

  test("with the provider's own tokens, it is over at the next renewal", async () => {
    const zawadi = await keycloak.addUser("kenya", { firstName: "Zawadi", lastName: "Achieng" });
    await signIn(zawadi, { session: "provider" });
    expect(await getToken()).toBeTruthy();
    await keycloak.endSessions("kenya", zawadi);
    await pass(301);
    expect(await getToken()).toBeNull();
    expect(await state()).toMatchObject({ status: "expired", reason: "invalid_grant" });
  });
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === "object" && address ? address.port : 0;
}
