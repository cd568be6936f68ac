import { describe, expect, test } from "vitest";
import { bodyErrors, commonErrors, errors } from "./errors.ts";
import type { Route } from "./route.ts";
import { errorsOf, routes } from "./routes.ts";

const all = Object.entries<Route>(routes);

describe.each(all)("%s", (_name, route) => {
  test("names its parameters as its path does", () => {
    const inPath = [...route.path.matchAll(/:(\w+)/g)].map(([, name]) => name);
    expect(Object.keys(route.params ?? {})).toEqual(inPath);
  });

  test("has one success and lists its errors once", () => {
    const statuses = Object.keys(route.response).map(Number);
    expect(statuses).toHaveLength(1);
    expect(statuses[0]).toBeLessThan(300);
    expect(new Set(route.errors).size).toBe(route.errors.length);
    for (const code of route.errors) expect([...commonErrors, ...bodyErrors]).not.toContain(code);
  });

  test("may answer every common error, and those of a body where it may have one", () => {
    const codes = errorsOf(route);
    const readsBody = route.body !== undefined || route.method === "DELETE";
    for (const code of commonErrors) expect(codes).toContain(code);
    for (const code of bodyErrors) expect(codes.includes(code)).toBe(readsBody);
  });

  test("that takes a token may refuse it", () => {
    if (route.bearer === undefined) return;
    expect(route.errors.some((code) => errors[code].status === 401)).toBe(true);
  });

  test("has aliases only for fields that exist, under names that do not", () => {
    const { properties = {} } = (route.body ?? {}) as { properties?: object };
    for (const [alias, canonical] of Object.entries(route.aliases ?? {})) {
      expect(properties).toHaveProperty(canonical);
      expect(properties).not.toHaveProperty(alias);
    }
  });

  test("accepts no field it does not name", () => {
    if (route.body && !route.foreignBody) expect(route.body).toHaveProperty("additionalProperties", false);
  });
});

test("no two routes share a method and a path", () => {
  const places = all.map(([, { method, path }]) => `${method} ${path}`);
  expect(new Set(places).size).toBe(places.length);
});

test.each([
  ["POST", "/api/users/login"],
  ["POST", "/api/users/refresh"],
  ["GET", "/api/users/check-token"],
  ["POST", "/api/users/check-token"],
  ["GET", "/api/users/me"],
])("the specification's %s %s exists", (method, path) => {
  expect(all.some(([, route]) => route.method === method && route.path === path)).toBe(true);
});
