import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chromiumPath, useChromium } from "../../client/test/kit/chromium.ts";
import { amina, useService } from "../../client/test/kit/service.ts";
import { type Pages, servePage } from "./kit/pages.ts";

describe.skipIf(chromiumPath === null)("examples/field-app", () => {
  let pages: Pages;
  const origins: string[] = [];
  beforeAll(async () => {
    const root = join(import.meta.dirname, "../../../examples/field-app");
    pages = await servePage(root, join(root, "index.html"), () => `data-server="${service.url}"`);
    origins.push(pages.url);
  });
  const service = useService({ config: { corsOrigins: origins } });
  const chromium = useChromium();
  afterAll(() => pages?.close());

  async function openDevice(): Promise<Page> {
    const context = await chromium.browser.newContext();
    const page = await context.newPage();
    await page.goto(pages.url);
    await expect.poll(() => page.textContent("#unsynced")).toBe("Everything is sent");
    return page;
  }
  async function addPerson(page: Page, given: string, village: string): Promise<void> {
    const before = await page.locator("#people li").count();
    await page.fill("[name=given]", given);
    await page.fill("[name=village]", village);
    await page.click("text=Add person");
    await expect.poll(() => page.locator("#people li").count()).toBe(before + 1);
  }
  async function signIn(page: Page): Promise<void> {
    await page.fill("[name=username]", amina.username);
    await page.fill("[name=password]", amina.password);
    await page.click("#sign-in button");
    await expect.poll(() => page.textContent("#username")).toBe("amina");
  }
  const people = async (page: Page) => (await page.locator("#people li").allTextContents()).sort();

  test("collects offline, signs in, syncs with a progress bar, logs out; a second device sees the people", async () => {
    const page = await openDevice();
    await page.context().setOffline(true);
    await addPerson(page, "Wanjiru", "Kitui");
    await addPerson(page, "Otieno", "Kisumu");
    expect(await people(page)).toEqual(["Otieno, Kisumu, not sent yet", "Wanjiru, Kitui, not sent yet"]);
    expect(await page.textContent("#unsynced")).toBe("2 to send");

    await page.context().setOffline(false);
    await signIn(page);
    await expect.poll(() => people(page)).toHaveLength(2);
    // What the bar showed, from its first appearance on.
    await page.evaluate(() => {
      const bar = document.querySelector("progress") as HTMLProgressElement;
      const shown: string[] = [];
      new MutationObserver(() => shown.push(`${bar.hidden ? "hidden" : "visible"} ${bar.value}/${bar.max}`)).observe(
        bar,
        {
          attributes: true,
        },
      );
      Object.assign(globalThis, { shown });
    });
    await page.click("#sync");
    await expect.poll(() => page.textContent("#message")).toBe("Sent 2, received 2.");
    const shown = await page.evaluate(() => (globalThis as unknown as { shown: string[] }).shown);
    expect(shown).toContain("visible 2/2");
    expect(shown.at(-1)).toMatch(/^hidden/);
    await expect.poll(() => people(page)).toEqual(["Otieno, Kisumu", "Wanjiru, Kitui"]);
    expect(await page.textContent("#unsynced")).toBe("Everything is sent");

    const second = await openDevice();
    await signIn(second);
    await second.click("#sync");
    await expect.poll(() => people(second)).toEqual(["Otieno, Kisumu", "Wanjiru, Kitui"]);

    await addPerson(page, "Late", "Lamu");
    await page.click("#logout");
    await expect.poll(() => page.textContent("#message")).toMatch(/^1 not sent/);
    expect(await people(page)).toEqual([]);
    expect(await page.isVisible("#sign-in")).toBe(true);
    await signIn(page);
    await expect.poll(() => people(page)).toHaveLength(3);
    await page.context().close();
    await second.context().close();
  });
});
