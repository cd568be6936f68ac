import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";
import { afterAll, beforeAll } from "vitest";

const places = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** Debian's Chromium; installed now when it is missing and we may. */
function findChromium(): string | null {
  const find = () => places.find((place) => existsSync(place)) ?? null;
  if (find() !== null || process.getuid?.() !== 0) return find();
  try {
    execFileSync("apt-get", ["install", "-y", "--no-install-recommends", "chromium"], { stdio: "ignore" });
  } catch (error) {
    process.stderr.write(`Chromium could not be installed: ${(error as Error).message}\n`);
  }
  return find();
}

export const chromiumPath = findChromium();

if (chromiumPath === null) {
  const message = "BROWSER TESTS SKIPPED: there is no Chromium on this machine. Install it: apt-get install chromium";
  if (process.env.CI) throw new Error(message);
  process.stderr.write(`\n${"!".repeat(80)}\n${message}\n${"!".repeat(80)}\n`);
}

/** A browser for the tests of a file. `insecure.test` is this machine under a name that is no secure context over http. */
export function useChromium(): { readonly browser: Browser } {
  let browser: Browser | undefined;
  beforeAll(async () => {
    if (chromiumPath === null) return;
    browser = await chromium.launch({
      executablePath: chromiumPath,
      args: ["--no-sandbox", "--disable-dev-shm-usage", "--host-resolver-rules=MAP insecure.test 127.0.0.1"],
    });
  });
  afterAll(() => browser?.close());
  return {
    get browser() {
      if (!browser) throw new Error("There is no browser.");
      return browser;
    },
  };
}
