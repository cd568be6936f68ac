/** `npm run pictures`: takes the pictures of the documents, and the portal's icons, from what is really there. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Browser, chromium } from "playwright-core";

const root = resolve(import.meta.dirname, "..");
const portalPublic = join(root, "packages/portal/public");
const pictures = join(root, "docs/pictures");

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  if (address === null || typeof address === "string") throw new Error("The system gave no port.");
  return address.port;
}

async function startDemo(folder: string): Promise<{ url: string; stop: () => Promise<unknown> }> {
  const port = await freePort();
  const env = { ...process.env, PORT: String(port), FIELDGATE_DATA_DIR: folder };
  const demo = spawn(process.execPath, [join(root, "packages/demo/src/main.ts")], { env, stdio: "ignore" });
  const url = `http://localhost:${port}/`;
  for (let tries = 0; tries < 300; tries += 1) {
    if (
      await fetch(url).then(
        (answer) => answer.ok,
        () => false,
      )
    )
      break;
    await sleep(100);
  }
  return {
    url,
    stop() {
      demo.kill("SIGTERM");
      return once(demo, "exit");
    },
  };
}

async function takeIcons(browser: Browser): Promise<void> {
  const drawing = readFileSync(join(portalPublic, "icon.svg"), "utf8");
  for (const size of [192, 512]) {
    const page = await browser.newPage({ viewport: { width: size, height: size } });
    const scaled = drawing.replace("<svg ", `<svg width="${size}" height="${size}" style="display:block" `);
    await page.setContent(`<body style="margin:0;background:#17603c">${scaled}</body>`);
    await page.screenshot({ path: join(portalPublic, `icon-${size}.png`) });
    await page.close();
  }
}

async function takePortal(browser: Browser, url: string): Promise<void> {
  const page = await browser.newPage({ viewport: { width: 1120, height: 800 }, locale: "en-GB" });
  await page.goto(url);
  await page.waitForSelector("[data-way=id]");
  await page.waitForSelector(".demo");
  await page.screenshot({ path: join(pictures, "portal.png") });
}

const folder = mkdtempSync(join(tmpdir(), "fieldgate-pictures-"));
mkdirSync(pictures, { recursive: true });
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-dev-shm-usage"],
});
try {
  await takeIcons(browser);
  const demo = await startDemo(folder);
  await takePortal(browser, demo.url);
  await demo.stop();
} finally {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
}
console.log("docs/pictures and the portal's icons are up to date.");
