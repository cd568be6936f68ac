import type { Page } from "playwright-core";
import { type House, householdPhone } from "./house.ts";

export const submit = (page: Page) => page.click("button[type=submit]");

export async function asWorker(
  page: Page,
  { username, password }: { username: string; password: string },
): Promise<void> {
  await page.click("[data-way=worker]");
  await page.fill("#username", username);
  await page.fill("#password", password);
  await submit(page);
}

export async function askForCode(page: Page, recipient: string): Promise<void> {
  await page.click("[data-way=recipient]");
  await page.fill("#recipient", recipient);
  await submit(page);
  await page.waitForSelector("#code");
}

/** One of the household signs in by the shared phone. */
export async function asHousehold(page: Page, house: House, name: string): Promise<void> {
  const before = house.sms.sent.length;
  await askForCode(page, householdPhone);
  await page.fill("#code", await house.sms.codeFor(householdPhone, before));
  await submit(page);
  await page.click(`.way:has-text("${name}")`);
  await page.waitForSelector("#who");
}

export async function withId(page: Page, idNumber: string, [year, month = "", day = ""]: string[]): Promise<void> {
  await page.click("[data-way=id]");
  await page.fill("#idNumber", idNumber);
  await page.fill("#day", day);
  await page.selectOption("#month", month);
  await page.fill("#year", year ?? "");
  await submit(page);
}
