import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, describe, expect, test } from "vitest";
import { chromiumPath } from "../../client/test/kit/chromium.ts";
import { defaultPolicy } from "../../server/src/config/policy.ts";
import { useHouse, worker } from "./kit/house.ts";
import { submit, withId } from "./kit/steps.ts";
import { useVisitors } from "./kit/visitor.ts";

declare global {
  var told: [name: string, detail: unknown][];
}

/** Another site's page, with one script tag and two attributes. */
const page = (server: string) => `<!doctype html>
<html lang="fr"><head><title>Une autre page</title>
<style>fieldgate-sign-in { --fieldgate-accent: rgb(10, 20, 130) } fieldgate-sign-in::part(heading) { font-size: 40px }</style>
<script type="module" src="${server}sign-in.js"></script>
<script>
  globalThis.told = [];
  for (const name of ["signed-in", "signed-out"]) {
    addEventListener(name, ({ detail }) => told.push([name, detail]));
  }
</script></head>
<body><main><h1>Une autre page</h1>
<fieldgate-sign-in server="${server}" tenant="demo" for="workers"></fieldgate-sign-in></main></body></html>`;

const site = createServer((_request, response) => {
  response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(page(house.url));
});
await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
const origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
const brief = { nationalId: { ...defaultPolicy.nationalId, life: 6 } };
const house = useHouse({ config: { corsOrigins: [origin] }, policy: brief });
afterAll(() => {
  site.close();
  site.closeAllConnections();
});

describe.skipIf(chromiumPath === null)("<fieldgate-sign-in> on another site's page", () => {
  const visitors = useVisitors();

  test("signs in, tells the page, gives it the manager, and looks as the page wants", async () => {
    const { page: tab } = await visitors.open(origin, { locale: "en" });
    await tab.fill("#username", worker.username);
    await tab.fill("#password", worker.password);
    const button = tab.locator("button[type=submit]");
    expect(await button.textContent()).toContain("Se connecter");
    expect(await button.evaluate((element) => getComputedStyle(element).backgroundColor)).toBe("rgb(10, 20, 130)");
    expect(await tab.locator("#title").evaluate((element) => getComputedStyle(element).fontSize)).toBe("40px");
    await submit(tab);
    await tab.waitForSelector("text=Vous êtes connecté en tant que amina.");
    expect(await tab.evaluate(() => told)).toEqual([["signed-in", { username: "amina", provider: "password" }]]);
    const user = await tab.evaluate(() => document.querySelector("fieldgate-sign-in")?.auth?.getCurrentUser());
    expect(user).toMatchObject({ username: "amina", kind: "field-worker" });

    await tab.reload();
    await tab.waitForSelector("text=Vous êtes connecté en tant que amina.");
    expect(await tab.evaluate(() => told)).toEqual([["signed-in", { username: "amina", provider: "password" }]]);
    await tab.click("button >> text=Se déconnecter");
    await tab.waitForSelector("#username");
    expect((await tab.evaluate(() => told)).at(-1)).toEqual(["signed-out", { reason: "logout" }]);
  });

  test("when a citizen's time is over the portal shows nothing of theirs any more, and says why", async () => {
    const { page: tab } = await visitors.open(house.url);
    await withId(tab, "12345678", ["1975", "6", "30"]);
    await tab.waitForSelector(".devices li");
    await tab.waitForSelector("main >> text=Your time is over, and we signed you out to keep you safe.");
    await tab.waitForSelector("[data-way=id]");
    expect(await tab.locator("#who").count()).toBe(0);
  });

  test("says that the service is away, and tries again", async () => {
    const { page: tab } = await visitors.open("about:blank");
    await tab.route("**/auth-config", (route) => route.abort());
    await tab.goto(origin);
    await tab.waitForSelector(".trouble >> text=Le service ne répond pas.");
    await tab.unroute("**/auth-config");
    await tab.click("button >> text=Réessayer");
    await tab.waitForSelector("#username");
  });
});
