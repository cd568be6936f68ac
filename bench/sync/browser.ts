import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";
import { type Pages, servePage } from "../../packages/entity-data/test/kit/pages.ts";
import { password, tenantId } from "../service/service-config.ts";

/** Chromium, and the page that the measurements run in. */
export interface Bench {
  readonly origin: string;
  /** A page of a device that nobody has used yet, signed in to the service. */
  openDevice(server: string): Promise<Page>;
  close(): Promise<void>;
}

const places = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

export async function startBrowser(): Promise<Bench> {
  const executablePath = places.find((place) => existsSync(place));
  if (!executablePath) throw new Error("There is no Chromium. Install it: apt-get install chromium");
  const root = join(import.meta.dirname, "pages");
  const pages: Pages = await servePage(root, join(root, "page.ts"));
  const browser: Browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
  return {
    origin: pages.url,
    async openDevice(server) {
      const page = await (await browser.newContext()).newPage();
      await page.goto(pages.url);
      await page.waitForFunction(() => "syncDevice" in globalThis);
      await page.evaluate(([url, tenant]) => syncDevice.open(url, tenant), [server, tenantId] as const);
      await page.evaluate((who) => syncDevice.manager.login(who), { username: "worker-0", password });
      return page;
    },
    async close() {
      await browser.close();
      await pages.close();
    },
  };
}
