import { expect, test } from "vitest";
import { get, post, startHttp } from "./http-kit.ts";
import { rawExchange } from "./raw-client.ts";

const portal = "https://portal.example";
const corsOrigins = [portal, "https://other.example:8443"];

const preflight = (origin: string, path = "/api/users/login") =>
  `OPTIONS ${path} HTTP/1.1\r\nHost: a\r\nOrigin: ${origin}\r\nAccess-Control-Request-Method: POST\r\n` +
  "Access-Control-Request-Headers: authorization, dpop\r\n\r\n";

test("a listed origin is granted what clients need, and no credentials", async () => {
  const server = await startHttp({ corsOrigins });
  const answer = await rawExchange(server.port, preflight(portal));
  expect(answer.status).toBe(204);
  expect(answer.headers.get("access-control-allow-origin")).toBe(portal);
  expect(answer.headers.get("access-control-allow-methods")).toBe("GET, POST, DELETE");
  expect(answer.headers.get("access-control-allow-headers")).toBe(
    "Authorization, DPoP, X-Tenant-Id, X-Device-Token, Content-Type",
  );
  expect(answer.headers.get("access-control-max-age")).toBe("600");
  expect(answer.headers.get("vary")).toBe("Origin");
  expect(answer.headers.has("access-control-allow-credentials")).toBe(false);
  expect(server.reached()).toBe(0);
});

test.each([
  "https://portal.example.evil.example",
  "https://evil.example",
  "http://portal.example",
  "https://portal.example:444",
  "https://sub.portal.example",
  "https://PORTAL.example",
  "null",
  "*",
])("the origin %s is granted nothing", async (origin) => {
  const server = await startHttp({ corsOrigins });
  const answers = [
    await rawExchange(server.port, preflight(origin)),
    await rawExchange(server.port, `GET /healthz HTTP/1.1\r\nHost: a\r\nOrigin: ${origin}\r\n\r\n`),
  ];
  for (const { headers } of answers) {
    expect([...headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
    expect(headers.get("vary")).toBe("Origin");
  }
});

test("errors carry the headers too, or a page could not read them", async () => {
  const server = await startHttp({ corsOrigins });
  const origin = { origin: portal };
  const answers = [
    await get(`${server.url}/api/users/check-token`, { ...origin, authorization: "Bearer good" }),
    await get(`${server.url}/api/users/check-token`, origin),
    await get(`${server.url}/nowhere`, origin),
    await get(`${server.url}/healthz?token=x`, origin),
    await post(`${server.url}/api/users/login`, "{}", { ...origin, "content-type": "application/json" }),
    await post(`${server.url}/api/users/login`, "x".repeat(20_000), { ...origin, "content-type": "application/json" }),
    await post(`${server.url}/api/users/refresh`, '{"refreshToken":"crash"}', {
      ...origin,
      "content-type": "application/json",
    }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([200, 401, 404, 400, 400, 413, 500]);
  for (const { headers } of answers) {
    expect(headers.get("access-control-allow-origin")).toBe(portal);
    expect(headers.get("access-control-expose-headers")).toBe("Date, DPoP-Nonce, Retry-After, WWW-Authenticate");
  }
});

test("without a list there is no CORS at all", async () => {
  const server = await startHttp();
  const answer = await rawExchange(server.port, preflight(portal));
  expect(answer.status).toBe(204);
  expect(answer.headers.get("allow")).toBe("POST, OPTIONS");
  expect([...answer.headers.keys()].filter((name) => name.startsWith("access-control") || name === "vary")).toEqual([]);
});
