import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { AxeBuilder } from "@axe-core/playwright";
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { chromiumPath } from "../../../client/test/kit/chromium.ts";

const pictures = join(import.meta.dirname, "../../../../.test-output/portal");

/** Somebody with a browser of their own: nothing is shared with the visitor before. */
export interface Visitor {
  readonly page: Page;
  readonly context: BrowserContext;
}

/** A browser for the tests of a file. What a page complains about that no test expects is a failure. */
export function useVisitors(args: readonly string[] = []) {
  let browser: Browser | undefined;
  const contexts: BrowserContext[] = [];
  const complaints: string[] = [];
  beforeAll(async () => {
    if (chromiumPath === null) return;
    mkdirSync(pictures, { recursive: true });
    browser = await chromium.launch({
      executablePath: chromiumPath,
      args: ["--no-sandbox", "--disable-dev-shm-usage", ...args],
    });
  });
  afterEach(async () => {
    for (const context of contexts.splice(0)) await context.close();
    expect(complaints.splice(0)).toEqual([]);
  });
  afterAll(() => browser?.close());

  function watch(page: Page): void {
    page.on("pageerror", (error) => complaints.push(String(error)));
    page.on("console", (message) => {
      // The browser tells of every answer that is no success, and of a server that is away: those are tested elsewhere.
      const isAnswer = /Failed to load resource|ERR_/.test(message.text());
      if (message.type() === "error" && !isAnswer) complaints.push(message.text());
    });
  }

  return {
    async open(url: string, options: BrowserContextOptions = {}): Promise<Visitor> {
      if (!browser) throw new Error("There is no browser.");
      const context = await browser.newContext({ locale: "en-GB", viewport: { width: 390, height: 780 }, ...options });
      contexts.push(context);
      context.setDefaultTimeout(15_000);
      context.on("page", watch);
      const page = await context.newPage();
      await page.goto(url);
      return { page, context };
    },
  };
}

/** Nothing that the rules of WCAG 2.2 AA, or good practice, would find. */
export async function expectAccessible(page: Page): Promise<void> {
  const { violations } = await new AxeBuilder({ page })
    .withTags(["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"])
    .analyze();
  const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
  expect(found).toEqual([]);
}

/** Everything fits the width: nobody has to scroll sideways. */
export async function expectFits(page: Page): Promise<void> {
  const { wide, width } = await page.evaluate(() => ({
    wide: document.documentElement.scrollWidth,
    width: document.documentElement.clientWidth,
  }));
  expect(wide).toBeLessThanOrEqual(width);
}

/** Kept in an ignored folder, to be looked at. */
export const keepPicture = (page: Page, name: string) =>
  page.screenshot({ path: join(pictures, `${name}.png`), fullPage: true });
