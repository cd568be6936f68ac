import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { encodeQR } from "qr";
import { afterAll, describe, expect, test } from "vitest";
import { chromiumPath } from "../../client/test/kit/chromium.ts";
import { useHouse } from "./kit/house.ts";
import { keepPicture } from "./kit/visitor.ts";

const [width, height] = [640, 480];

/** A film of somebody who holds a card before the camera: grey, not straight, not filling the picture. */
function film(text: string): Buffer {
  const modules = encodeQR(text, "raw", { border: 4, ecc: "medium" });
  const size = 400 / modules.length;
  const turn = 0.06;
  const luma = Buffer.alloc(width * height, 120);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const [dx, dy] = [x - width / 2, y - height / 2];
      const column = Math.floor((dx * Math.cos(turn) + dy * Math.sin(turn) + 200) / size);
      const row = Math.floor((dy * Math.cos(turn) - dx * Math.sin(turn) + 200) / size);
      const module = modules[row]?.[column];
      if (module !== undefined) luma[y * width + x] = module ? 40 : 215;
    }
  }
  const chroma = Buffer.alloc((width * height) / 2, 128);
  const frame = Buffer.concat([Buffer.from("FRAME\n"), luma, chroma]);
  const head = Buffer.from(`YUV4MPEG2 W${width} H${height} F10:1 Ip A1:1 C420jpeg\n`);
  return Buffer.concat([head, ...Array.from({ length: 5 }, () => frame)]);
}

describe.skipIf(chromiumPath === null)("the camera", () => {
  const house = useHouse();
  const folder = mkdtempSync(join(tmpdir(), "fieldgate-film-"));
  afterAll(() => rmSync(folder, { recursive: true }));

  async function withFilm(text: string) {
    const file = join(folder, `${Math.random()}.y4m`);
    writeFileSync(file, film(text));
    return chromium.launch({
      executablePath: chromiumPath as string,
      args: [
        "--no-sandbox",
        "--disable-dev-shm-usage",
        "--use-fake-device-for-media-stream",
        `--use-file-for-fake-video-capture=${file}`,
      ],
    });
  }

  test("reads the card, signs its holder in, and is closed then; its decoder is loaded for that alone", async () => {
    const browser = await withFilm(house.card);
    try {
      const context = await browser.newContext({ permissions: ["camera"], locale: "en" });
      const page = await context.newPage();
      const scripts: string[] = [];
      page.on("request", (request) => scripts.push(request.url()));
      await page.goto(house.url);
      await page.click("[data-way=card]");
      await page.waitForSelector("input[type=file]", { state: "attached" });
      expect(scripts.filter((url) => /decode/.test(url))).toEqual([]);
      await page.click("button >> text=Open the camera");
      await page.waitForSelector("#who", { timeout: 20_000 });
      expect(scripts.filter((url) => /decode/.test(url))).toHaveLength(1);
      expect(await page.textContent("main")).toContain("You signed in with your ID number or your card.");
    } finally {
      await browser.close();
    }
  });

  test("that is not allowed, and one that sees no card: both leave a way on", async () => {
    const browser = await withFilm("nothing that anybody knows");
    try {
      const context = await browser.newContext({ locale: "en", viewport: { width: 390, height: 780 } });
      const page = await context.newPage();
      await page.goto(house.url);
      await page.click("[data-way=card]");
      await page.click("button >> text=Open the camera");
      expect(await page.textContent(".trouble")).toMatch(/^The camera is not allowed/);
      await context.grantPermissions(["camera"]);
      await page.click("button >> text=Open the camera");
      await expect.poll(() => page.textContent(".trouble"), { timeout: 15_000 }).toMatch(/code/);
      await keepPicture(page, "card-unknown");
      expect(await page.isVisible("input[type=file] >> xpath=..")).toBe(true);
    } finally {
      await browser.close();
    }
  });
});
