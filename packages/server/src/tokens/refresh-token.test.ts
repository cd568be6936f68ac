import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { opaqueId } from "./opaque-id.ts";
import { isGenuine, parseRefreshToken, refreshToken, refreshTokenHash } from "./refresh-token.ts";

const key = randomBytes(32);
const family = opaqueId();

test("a token is what its parts say, each time the same", () => {
  const token = refreshToken(key, family, 7);
  const parts = parseRefreshToken(token);
  expect(parts).toMatchObject({ family, counter: 7 });
  expect(parts && isGenuine(key, parts)).toBe(true);
  expect(refreshToken(key, family, 7)).toBe(token);
});

test("another key, counter or family is not genuine", () => {
  const parts = parseRefreshToken(refreshToken(key, family, 7));
  if (!parts) throw new Error("It did not parse.");
  expect(isGenuine(randomBytes(32), parts)).toBe(false);
  expect(isGenuine(key, { ...parts, counter: 8 })).toBe(false);
  expect(isGenuine(key, { ...parts, family: opaqueId() })).toBe(false);
});

test.each([
  "",
  "x",
  `${family}.07.${"a".repeat(43)}`,
  `${family}.-1.${"a".repeat(43)}`,
  `${family}.1e3.${"a".repeat(43)}`,
  `${family}.9007199254740993.${"a".repeat(43)}`,
  `${family}.1.${"a".repeat(42)}`,
  `${family}.1.${"a".repeat(43)}\n`,
  ` ${family}.1.${"a".repeat(43)}`,
])("%j is no refresh token", (text) => expect(parseRefreshToken(text)).toBeNull());

test("its hash does not show it", () => {
  const token = refreshToken(key, family, 0);
  expect(refreshTokenHash(token)).toHaveLength(43);
  expect(refreshTokenHash(token)).not.toContain(token.slice(-20));
});
