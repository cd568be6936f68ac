import { describe, expect, test } from "vitest";
import { addressErrors, commandErrors, type ErrorCode, type ErrorEntry, errorCodes, errors } from "./errors.ts";
import { errorsOf, routes } from "./routes.ts";

const entries = Object.entries<ErrorEntry>(errors);

describe("the error table", () => {
  test.each(entries)("%s has a code, a status and sentences that can be read", (code, { status, title, detail }) => {
    expect(code).toMatch(/^[a-z]+(?:_[a-z]+)*$/);
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(600);
    expect(title).toMatch(/^[A-Z].*[a-zA-Z]$/);
    expect(detail).toMatch(/^[A-Z].*\.$/);
  });

  test("no two codes say the same", () => {
    expect(new Set(entries.map(([, { detail }]) => detail)).size).toBe(entries.length);
  });

  test("sentences that speak of Retry-After belong to answers that carry it", () => {
    for (const [code, { status, detail }] of entries) {
      if (detail.includes("Retry-After")) expect([429, 503], code).toContain(status);
    }
  });

  test("an outage is 503, never 401", () => {
    expect(errors.unavailable.status).toBe(503);
    expect(errors.busy.status).toBe(503);
  });

  test("every code is answered by something", () => {
    const answered = new Set<ErrorCode>(addressErrors);
    for (const route of Object.values(routes)) for (const code of errorsOf(route)) answered.add(code);
    // A code leaves this list when a route begins to answer it.
    for (const code of commandErrors) expect(answered).not.toContain(code);
    for (const code of commandErrors) answered.add(code);
    expect(errorCodes.filter((code) => !answered.has(code))).toEqual([]);
  });
});
