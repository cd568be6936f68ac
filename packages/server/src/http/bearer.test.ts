import { describe, expect, test } from "vitest";
import { readBearer } from "./bearer.ts";
import { hasTokenInUrl } from "./token-in-url.ts";

describe("readBearer", () => {
  test.each([
    ["Bearer abc.def-_~+/123==", "abc.def-_~+/123=="],
    ["bearer x", "x"],
    ["BEARER   x", "x"],
  ])("%s", (header, token) => {
    expect(readBearer(header)).toBe(token);
  });

  test("no header is no token", () => {
    expect(readBearer(undefined)).toBeNull();
  });

  test.each([
    "",
    "Bearer",
    "Bearer ",
    "Bearer a b",
    "Bearer a,b",
    "Basic dXNlcjpwdw==",
    "DPoP x",
    "Bearer é",
    "Bearerx",
    "=x",
  ])("%j is malformed", (header) => {
    expect(() => readBearer(header)).toThrow(expect.objectContaining({ code: "invalid_token" }));
  });

  test("a token has a longest length", () => {
    expect(readBearer(`Bearer ${"a".repeat(8192)}`)).toHaveLength(8192);
    expect(() => readBearer(`Bearer ${"a".repeat(8193)}`)).toThrow(expect.objectContaining({ code: "invalid_token" }));
  });

  test("a hostile header is refused in no time", () => {
    const started = performance.now();
    expect(() => readBearer(`Bearer ${" ".repeat(8000)}!`)).toThrow();
    expect(() => readBearer(`Bearer ${"=".repeat(8000)}!`)).toThrow();
    expect(performance.now() - started).toBeLessThan(500);
  });
});

describe("hasTokenInUrl", () => {
  test.each([
    "/?token=x",
    "/a?b=1&access_token=x",
    "/a?Access_Token=x",
    "/a?refreshToken=x",
    "/a?refresh_token=x",
    "/a?ID_TOKEN",
    "/a?idToken=",
    "/a?tok%65n=x",
    "/a?%74oken=x",
    "/a?token[]=x",
    "/a?b;token=x",
    "/a??&token=x",
  ])("%s has one", (url) => {
    expect(hasTokenInUrl(url)).toBe(true);
  });

  test.each(["/token", "/a", "/a?", "/a?tokens=1", "/a?q=token", "/a?q=a%3Dtoken", "/a?tokenType=x", "/a?%zz=1"])(
    "%s has none",
    (url) => {
      expect(hasTokenInUrl(url)).toBe(false);
    },
  );
});
