import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { chromiumPath } from "../../client/test/kit/chromium.ts";
import { qrPng } from "../../server/src/qr/draw-qr.ts";
import { useHouse, worker } from "./kit/house.ts";
import { asHousehold, askForCode, asWorker, submit, withId } from "./kit/steps.ts";
import { expectAccessible, keepPicture, useVisitors } from "./kit/visitor.ts";

/** What the page says went wrong. */
const trouble = (page: Page) => page.textContent(".trouble", { timeout: 15_000 });

describe.skipIf(chromiumPath === null)("when something goes wrong, a sentence and a way on", () => {
  const house = useHouse();
  const visitors = useVisitors();

  test("a wrong code, and one that is too old", async () => {
    const { page } = await visitors.open(house.url);
    await askForCode(page, "zawadi@example.org");
    const code = await house.email.codeFor("zawadi@example.org");
    await page.fill("#code", code === "000000" ? "000001" : "000000");
    await submit(page);
    expect(await trouble(page)).toMatch(/^This code is wrong or too old/);
    await expectAccessible(page);
    await page.fill("#code", "12");
    await submit(page);
    await expect.poll(() => trouble(page)).toBe("The code has 6 digits.");
    expect(await page.textContent(".resend")).toMatch(/You can ask again in \d+ s/);

    await page.evaluate(() => {
      const now = Date.now.bind(Date);
      Date.now = () => now() + 11 * 60_000;
    });
    await page.fill("#code", code);
    await submit(page);
    await expect.poll(() => trouble(page)).toBe("This code is too old. Ask for a new one.");
    await page.click("button.resend");
    await expect.poll(() => page.textContent(".good")).toBe("We sent the code again.");
  });

  test("locked out: says until when, in the person's language, and leaves the other ways open", async () => {
    const { page } = await visitors.open(house.url, { locale: "fr-FR" });
    const id = String(10_000_000 + Math.floor(Math.random() * 1e7));
    await withId(page, id, ["1980", "1", "1"]);
    for (let tries = 0; tries < 5; tries += 1) {
      await page.waitForSelector(".trouble >> text=Nous n’avons trouvé personne");
      await submit(page);
      await page.waitForSelector("button[aria-disabled=false]");
    }
    await expect.poll(() => trouble(page)).toMatch(/Trop d’essais.*fermé jusqu’à \d+.*\d\d:\d\d/);
    await keepPicture(page, "locked-out");
    await page.click(".back");
    await page.waitForSelector("[data-way=card]");
  });

  test("wrong password, nothing filled in, an address that is none", async () => {
    const { page } = await visitors.open(house.url, { locale: "sw" });
    await asWorker(page, { ...worker, password: "not this one at all" });
    expect(await trouble(page)).toMatch(/^Jina la mtumiaji au nenosiri si sahihi/);
    await page.fill("#password", "");
    await submit(page);
    await expect.poll(() => trouble(page)).toBe("Tafadhali jaza hapa.");
    await page.click(".back");
    await page.click("[data-way=recipient]");
    await page.fill("#recipient", "not an address");
    await submit(page);
    await expect.poll(() => trouble(page)).toMatch(/^Hii si nambari ya simu/);
  });

  test("a picture without a code, a code of another kind, a card that is not known", async () => {
    const { page } = await visitors.open(house.url, { locale: "es" });
    await page.click("[data-way=card]");
    const show = (buffer: Buffer) =>
      page.setInputFiles("input[type=file]", { name: "card.png", mimeType: "image/png", buffer });
    await show(Buffer.from("this is no picture"));
    expect(await trouble(page)).toMatch(/^En esta imagen no hay un código/);
    await show(Buffer.from(qrPng("HTTPS://EXAMPLE.ORG/MENU")));
    await expect.poll(() => trouble(page)).toMatch(/otro tipo de código|leer este código completo/);
    await show(Buffer.from(qrPng(house.card.slice(0, -20))));
    await expect.poll(() => trouble(page)).toMatch(/leer este código completo/);
  });

  test("no camera on this machine", async () => {
    const { page } = await visitors.open(house.url);
    await page.click("[data-way=card]");
    await page.click("button >> text=Open the camera");
    expect(await trouble(page)).toMatch(/^We found no camera. Choose a photo/);
  });

  test("two tabs with two people: the first one is told", async () => {
    const { page, context } = await visitors.open(house.url);
    await asHousehold(page, house, "Wanjiku");
    const other = await context.newPage();
    await other.goto(house.url);
    await other.click("[data-action=sign-out]");
    await expect.poll(() => page.textContent("main")).toContain("You are signed out.");
    await asWorker(other, worker);
    await other.waitForSelector("#who");
    await expect.poll(() => page.textContent("#who")).toBe("Hello, amina");
    expect(await page.textContent("main")).toContain("Another person has just signed in on this device.");
    expect(await other.textContent("main")).not.toContain("Another person");
  });

  test("a programme that is not there, and none at all", async () => {
    const { page } = await visitors.open(`${house.url}?tenant=nowhere`);
    expect(await trouble(page)).toMatch(/^There is no programme with this name/);
    await expectAccessible(page);
    await page.fill("#programme", "demo");
    await submit(page);
    await page.waitForSelector("[data-way=id]");
  });

  test("the service is away: said at once, and the next try succeeds when it is back", async () => {
    const { page } = await visitors.open(house.url);
    await page.click("[data-way=worker]");
    await page.fill("#username", worker.username);
    await page.fill("#password", worker.password);
    await house.stop();
    await submit(page);
    expect(await trouble(page)).toMatch(/^There is no connection to the service/);
    await house.restart();
    await submit(page);
    await expect.poll(() => page.textContent("#who")).toBe("Hello, amina");
  });
});
