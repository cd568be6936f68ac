import { expect, test } from "vitest";
import { isOtpCode, type OtpSubject, otpCode } from "./otp-code.ts";

// One key for all runs: a test of chance must not fail by chance.
const key = Buffer.alloc(32, 7);
const subject: OtpSubject = { challengeId: "c1", tenantId: "demo", recipient: "r1", purpose: "sign-in" };

test("a code is six digits, the same each time, and its own", () => {
  const code = otpCode(key, subject);
  expect(code).toMatch(/^\d{6}$/);
  expect(otpCode(key, subject)).toBe(code);
  expect(isOtpCode(key, subject, code)).toBe(true);
});

test.each<Partial<OtpSubject>>([
  { challengeId: "c2" },
  { tenantId: "other" },
  { recipient: "r2" },
  { purpose: "step-up" },
])("a code is bound: %o gives others", (change) => {
  const differs = Array.from({ length: 50 }, (_, index) => {
    const mine = { ...subject, challengeId: `c${index}` };
    return (
      otpCode(key, mine) !==
      otpCode(key, { ...mine, ...change, ...(change.challengeId && { challengeId: `x${index}` }) })
    );
  });
  expect(differs.filter(Boolean).length).toBeGreaterThan(48);
});

test("codes are uniform, leading zeros included", () => {
  const samples = 20_000;
  const buckets = new Array<number>(100).fill(0);
  for (let index = 0; index < samples; index += 1) {
    const bucket = Number(otpCode(key, { ...subject, challengeId: `${index}` }).slice(0, 2));
    buckets[bucket] = (buckets[bucket] ?? 0) + 1;
  }
  const expected = samples / buckets.length;
  const chiSquare = buckets.reduce((sum, seen) => sum + (seen - expected) ** 2 / expected, 0);
  // 99 degrees of freedom: beyond 170 happens once in a hundred thousand runs.
  expect(chiSquare).toBeLessThan(170);
});
