import { describe, expect, test } from "vitest";
import { chromiumPath } from "../../client/test/kit/chromium.ts";
import { qrPng } from "../../server/src/qr/draw-qr.ts";
import { useHouse, worker, yearPhone } from "./kit/house.ts";
import { asHousehold, askForCode, asWorker, submit, withId } from "./kit/steps.ts";
import { expectAccessible, useVisitors } from "./kit/visitor.ts";

describe.skipIf(chromiumPath === null)("ways in", () => {
  const house = useHouse();
  const visitors = useVisitors();

  test("a worker with username and password, who is still signed in after a reload and then signs out", async () => {
    const { page } = await visitors.open(house.url);
    await asWorker(page, worker);
    await expect.poll(() => page.textContent("#who")).toBe("Hello, amina");
    await expect.poll(() => page.textContent("main")).toContain("Your role: field worker.");
    await page.reload();
    await expect.poll(() => page.textContent("#who")).toBe("Hello, amina");
    await page.click("[data-action=sign-out]");
    await page.waitForSelector("[data-way=worker]");
    expect(await page.textContent("main")).toContain("You are signed out.");
    await page.reload();
    await page.waitForSelector("[data-way=worker]");
  });

  test("a code by SMS for a household that shares a phone: one of them is chosen", async () => {
    const { page } = await visitors.open(house.url);
    await asHousehold(page, house, "Kamau");
    await expect.poll(() => page.textContent("main")).toContain("To keep you safe, we sign you out at");
    expect(await page.textContent("main")).toContain("You signed in with a code");
    expect(await page.evaluate(() => document.activeElement?.shadowRoot?.activeElement?.id)).toBe("who");
  });

  test("a code by email, with the whole message pasted", async () => {
    const { page, context } = await visitors.open(house.url);
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await askForCode(page, "zawadi@example.org");
    const code = await house.email.codeFor("zawadi@example.org");
    const input = page.locator("#code");
    expect(await input.getAttribute("autocomplete")).toBe("one-time-code");
    await page.evaluate(
      (text) => navigator.clipboard.writeText(text),
      `Your code is ${code.slice(0, 3)} ${code.slice(3)}.`,
    );
    await input.press("Control+v");
    expect(await input.inputValue()).toBe(code);
    await submit(page);
    await page.waitForSelector("#who");
  });

  test("ID number and date of birth, by keyboard alone", async () => {
    const { page } = await visitors.open(house.url);
    await page.waitForSelector("[data-way=id]");
    const focused = () =>
      page.evaluate(() => {
        let active = document.activeElement;
        while (active?.shadowRoot?.activeElement) active = active.shadowRoot.activeElement;
        return active?.id || (active as HTMLElement | null)?.dataset.way || active?.textContent?.trim();
      });
    const tabTo = async (name: string) => {
      for (let presses = 0; presses < 20; presses += 1) {
        if ((await focused()) === name) return;
        await page.keyboard.press("Tab");
      }
      throw new Error(`The focus never reached ${name}.`);
    };
    await page.keyboard.press("Tab");
    expect(await focused()).toBe("Skip to the content");
    await tabTo("id");
    await page.keyboard.press("Enter");
    await expect.poll(focused).toBe("idNumber");
    await page.keyboard.type("12345678");
    await tabTo("day");
    await page.keyboard.type("30");
    await tabTo("month");
    await page.keyboard.type("6");
    await tabTo("year");
    await page.keyboard.type("1975");
    await page.keyboard.press("Enter");
    await expect.poll(focused).toBe("who");
    await page.waitForSelector("main >> text=You signed in with your ID number");
  });

  test("a year alone, in Arabic digits, then the second step", async () => {
    const { page } = await visitors.open(house.url, { locale: "ar" });
    await withId(page, "٨٧٦٥٤٣٢١", ["١٩٥٠"]);
    await page.waitForSelector("#code");
    expect(await page.textContent(".frame")).toContain("لنتأكد من أنك أنت");
    await expectAccessible(page);
    await page.fill("#code", await house.sms.codeFor(yearPhone));
    await submit(page);
    await page.waitForSelector("#who");
  });

  test("a programme that asks for more: the year of birth with the choice, and the whole date", async () => {
    const adapters = ["otp", "id"].map((type) => ({ type, fields: { serverUrl: house.url.slice(0, -1) } }));
    const settings = {
      defaultCountry: "KE",
      otp: { askBirthYear: true },
      nationalId: { birthYearAlone: false },
      adapters,
    };
    await house.node.addTenant("strict", settings);
    const phones = ["+254712000333"];
    for (const [given, year] of [
      ["Juma", 1980],
      ["Asha", 1990],
    ] as const) {
      await house.node.addPerson({ names: { given }, birth: { year, estimated: false }, phones }, "strict");
    }
    const { page } = await visitors.open(`${house.url}?tenant=strict`);
    await withId(page, "1", ["1980"]);
    await page.waitForSelector(".trouble >> text=Please give day, month and year.");
    await page.click(".back");
    const choose = async (year: string) => {
      await page.fill("#code", await house.sms.codeFor("+254712000333"));
      await submit(page);
      await page.check("label:has-text('Asha') input");
      await page.fill("#birthYear", year);
      await submit(page);
    };
    await askForCode(page, "0712000333");
    await choose("1980");
    await page.waitForSelector(".trouble >> text=This year does not fit.");
  });

  test("a card from a photo, and its text", async () => {
    const { page } = await visitors.open(house.url);
    await page.click("[data-way=card]");
    const buffer = Buffer.from(qrPng(house.card));
    await page.setInputFiles("input[type=file]", { name: "card.png", mimeType: "image/png", buffer });
    await page.waitForSelector("#who");
    await page.click("[data-action=sign-out]");
    await page.click("[data-way=card]");
    await page.click("summary");
    await page.fill("#card", house.card);
    await submit(page);
    await page.waitForSelector("#who");
  });

  test("where one is signed in elsewhere is listed, and can be ended: the other device says so", async () => {
    const first = await visitors.open(house.url);
    await asWorker(first.page, worker);
    await first.page.waitForSelector("#who");
    const second = await visitors.open(house.url);
    await asWorker(second.page, worker);
    await second.page.waitForSelector("[data-action=end]");
    const ends = second.page.locator("[data-action=end]");
    const others = await ends.count();
    await ends.first().click();
    await expect.poll(() => ends.count()).toBe(others - 1);
    expect(await second.page.textContent("main")).toContain("That sign-in is ended.");
    await expectAccessible(second.page);
    // The newest other session is the first visitor's; that page learns of it when it is looked at again.
    await first.page.reload();
    await expect.poll(() => first.page.textContent("main")).toContain("You were signed out from another device.");
    await first.page.waitForSelector("[data-way=worker]");
  });
});
