/** `npm run measure -w @fieldgate/portal -- URL`: how much a first visit loads, and how soon its form is there. */
import { chromium } from "playwright-core";
import { buildPortal } from "./build-portal.ts";

const url = process.argv[2] ?? "http://localhost:3000/";
await buildPortal();
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-dev-shm-usage"],
});
const results: { seconds: number; sent: number }[] = [];
for (let round = 0; round < 5; round += 1) {
  const context = await browser.newContext({ viewport: { width: 360, height: 640 }, locale: "sw" });
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send("Network.enable");
  // What Chromium's developer tools call 3G, formerly slow 3G; and a phone a quarter as fast as this machine.
  const speed = { latency: 2000, downloadThroughput: 50_000, uploadThroughput: 50_000 };
  await session.send("Network.emulateNetworkConditions", { offline: false, ...speed });
  await session.send("Emulation.setCPUThrottlingRate", { rate: 4 });
  await page.goto(url, { waitUntil: "commit" });
  await page.click("[data-way=recipient]");
  await page.fill("#recipient", "0712345678");
  const measured = await page.evaluate(() => ({
    seconds: performance.now() / 1000,
    // The page has its script in it; a file of script, if one were needed before the form, would count as well.
    sent: performance
      .getEntries()
      .filter(({ entryType, name }) => entryType === "navigation" || /assets\/.*\.js$/.test(name))
      .reduce((sum, entry) => sum + ((entry as PerformanceResourceTiming).encodedBodySize ?? 0), 0),
  }));
  results.push(measured);
  await context.close();
}
await browser.close();
const median = results.toSorted((one, other) => one.seconds - other.seconds)[2];
process.stdout.write(
  `${url}, in Swahili, 4 times slower CPU, 3G of the developer tools (2 s latency, 50 KB/s)\n` +
    `page and script ${((median?.sent ?? 0) / 1000).toFixed(1)} KB as sent\n` +
    `first input     ${median?.seconds.toFixed(2)} s, the middle one of ${results.map(({ seconds }) => seconds.toFixed(2)).join(", ")}\n`,
);
