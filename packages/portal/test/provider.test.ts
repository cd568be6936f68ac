import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chromiumPath } from "../../client/test/kit/chromium.ts";
import { demoAccount, type IdentityProvider, startHostedProvider } from "../../demo/src/identity-provider/index.ts";
import { useHouse, worker } from "./kit/house.ts";
import { expectAccessible, useVisitors } from "./kit/visitor.ts";

describe.skipIf(chromiumPath === null)("the organisation's account", () => {
  const house = useHouse();
  const visitors = useVisitors();
  let provider: IdentityProvider | undefined;

  beforeAll(async () => {
    const uris = [house.url];
    const clients = [{ clientId: "portal", redirectUris: uris, postLogoutRedirectUris: uris }];
    provider = await startHostedProvider({ port: 0, clients });
    const fields = { authority: provider.authority, client_id: "portal", organization: "org_demo" };
    await house.node.addTenant("org", { adapters: [{ type: "oidc_a", fields }] });
    await house.node.addWorker({ ...worker, tenantId: "org" });
  });
  afterAll(() => provider?.close());

  test("leads to the provider and back, signed in; cancelled there, the page says so", async () => {
    const { page } = await visitors.open(`${house.url}?tenant=org`);
    await page.waitForSelector("[data-provider=oidc_a]");
    await expectAccessible(page);
    await page.click("[data-provider=oidc_a]");
    await page.click("[value=cancel]");
    await page.waitForSelector("main >> text=The sign-in at your organisation was stopped. Try again.");

    await page.click("[data-provider=oidc_a]");
    await page.fill("[name=username]", demoAccount.username);
    await page.fill("[name=password]", demoAccount.password);
    await page.click("[value=sign-in]");
    await page.waitForSelector("#who");
    expect(await page.textContent("main")).toContain("You signed in with the account of your organisation.");
    expect(new URL(page.url()).search).toBe("?tenant=org");
    await page.waitForSelector(".devices li");
    // What is loaded later works with the script in the page: a second core would have other classes.
    const files = await page.evaluate(() => performance.getEntriesByType("resource").map(({ name }) => name));
    const scripts = files.flatMap((name) => /assets\/(.+)-.{8}\.js$/.exec(name)?.[1] ?? []);
    expect(scripts.toSorted()).toEqual(["oidc", "page-core"]);
  });

  test("a provider that is away leaves the password as a way in", async () => {
    const { page } = await visitors.open(`${house.url}?tenant=org`);
    await page.waitForSelector("[data-provider=oidc_a]");
    await provider?.close();
    provider = undefined;
    await page.click("[data-provider=oidc_a]");
    await page.waitForSelector(".trouble >> text=/does not answer. Try again in a moment, or use your password/");
    await page.fill("#username", worker.username);
    await page.fill("#password", worker.password);
    await page.click("button[type=submit]");
    await expect.poll(() => page.textContent("#who")).toBe("Hello, amina");
  });
});
