import { routes } from "@fieldgate/contract";
import { beforeAll, describe, expect, test } from "vitest";
import { get, openHttp, post, startHttp, type TestServer } from "./http-kit.ts";
import { RawClient, rawExchange } from "./raw-client.ts";

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

type Ask = (
  server: TestServer,
) => Promise<{ status: number; headers: { get(name: string): string | null | undefined } }>;

const answers: [what: string, status: number, ask: Ask][] = [
  ["a success", 200, ({ url }) => get(`${url}/api/users/check-token`, { authorization: "Bearer good" })],
  ["an empty success", 204, ({ url }) => post(`${url}/api/users/logout`, undefined, {})],
  ["a validation error", 400, ({ url }) => post(`${url}/api/users/login`, "{}")],
  ["a token in the URL", 400, ({ url }) => get(`${url}/?token=x`)],
  ["a bad URL", 400, ({ url }) => get(`${url}/api/tenants/%ff/auth-config`)],
  ["no token", 401, ({ url }) => get(`${url}/api/users/check-token`)],
  ["an unknown path", 404, ({ url }) => get(`${url}/nowhere`)],
  ["another method", 405, ({ url }) => post(`${url}/healthz`, "{}")],
  ["a large body", 413, ({ url }) => post(`${url}/api/users/login`, " ".repeat(20_000))],
  ["a long path", 414, ({ url }) => get(`${url}/${"a".repeat(3000)}`)],
  ["a long parameter", 414, ({ url }) => get(`${url}/api/tenants/${"a".repeat(101)}/auth-config`)],
  ["another type", 415, ({ url }) => post(`${url}/api/users/login`, "x", { "content-type": "text/plain" })],
  ["a crash", 500, ({ url }) => post(`${url}/api/users/refresh`, '{"refreshToken":"crash"}')],
  ["an outage", 503, ({ url }) => post(`${url}/api/users/refresh`, '{"refreshToken":"store"}')],
  ["OPTIONS", 204, ({ port }) => raw(port, "OPTIONS /healthz HTTP/1.1\r\nHost: a\r\n\r\n")],
  ["HEAD", 200, ({ port }) => raw(port, "HEAD /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", true)],
  ["no HTTP", 400, ({ port }) => raw(port, "HELLO\r\n\r\n")],
  ["no host", 400, ({ port }) => raw(port, "GET /healthz HTTP/1.1\r\n\r\n")],
  ["large headers", 431, ({ port }) => raw(port, `GET / HTTP/1.1\r\nHost: a\r\nX: ${"a".repeat(17_000)}\r\n\r\n`)],
  ["an endless path", 414, ({ port }) => raw(port, `GET /${"a".repeat(17_000)} HTTP/1.1\r\nHost: a\r\n\r\n`)],
  ["an expectation", 200, ({ port }) => raw(port, "GET /healthz HTTP/1.1\r\nHost: a\r\nExpect: cake\r\n\r\n")],
];

async function raw(port: number, text: string, head = false) {
  if (!head) {
    const answer = await rawExchange(port, text);
    return { status: answer.status, headers: answer.headers };
  }
  const client = new RawClient(port);
  client.send(text);
  await client.untilClosed();
  const [statusLine = "", ...lines] = client.received.split("\r\n");
  const headers = new Map(
    lines.map((line) => [line.split(":")[0]?.toLowerCase() ?? "", line.replace(/^[^:]*: ?/, "")]),
  );
  return { status: Number(statusLine.split(" ")[1]), headers };
}

let shared: TestServer;
beforeAll(async () => {
  shared = await openHttp({ corsOrigins: ["https://portal.example"] });
  return shared.close;
});

describe.each(answers)("%s (%i)", (_what, status, ask) => {
  test("carries every header", async () => {
    const answer = await ask(shared);
    expect(answer.status).toBe(status);
    const header = (name: string) => answer.headers.get(name);
    expect(header("cache-control")).toBe("no-store");
    expect(header("x-content-type-options")).toBe("nosniff");
    expect(header("content-security-policy")).toBe("default-src 'none'; frame-ancestors 'none'");
    expect(header("referrer-policy")).toBe("no-referrer");
    expect(header("cross-origin-resource-policy")).toBe("same-origin");
    expect(header("vary")).toBe("Origin");
    expect(header("dpop-nonce")).toBe("test-nonce");
    expect(header("x-request-id")).toMatch(uuid);
    expect(Date.parse(header("date") ?? "")).toBeGreaterThan(Date.now() - 10_000);
    expect(header("strict-transport-security") ?? null).toBeNull();
    expect(header("server") ?? header("x-powered-by") ?? null).toBeNull();
    if (status >= 400) expect(header("content-type")).toBe("application/problem+json; charset=utf-8");
    if (status === 429 || status === 503) expect(Number(header("retry-after"))).toBeGreaterThanOrEqual(1);
    if (status === 401) expect(header("www-authenticate")).toMatch(/^Bearer/);
  });
});

test("in production every answer carries HSTS, also what was no request", async () => {
  const server = await startHttp({ mode: "production" });
  const hsts = "max-age=31536000; includeSubDomains";
  expect((await get(`${server.url}/healthz`)).headers.get("strict-transport-security")).toBe(hsts);
  expect((await get(`${server.url}/nowhere`)).headers.get("strict-transport-security")).toBe(hsts);
  expect((await rawExchange(server.port, "HELLO\r\n\r\n")).headers.get("strict-transport-security")).toBe(hsts);
});

test("the keys may be kept for a while: resource servers read them at every unknown kid", async () => {
  const server = await startHttp();
  const answer = await get(`${server.url}${routes.jwks.path}`);
  expect(answer.headers.get("cache-control")).toBe("public, max-age=300");
  expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
});

test("the instance of a problem is the request id of its answer and of its log line", async () => {
  const server = await startHttp();
  const answer = await post(`${server.url}/api/users/refresh`, '{"refreshToken":"crash"}');
  const id = answer.headers.get("x-request-id");
  expect(answer.body.instance).toBe(`urn:uuid:${id}`);
  expect(server.log).toMatchObject([{ requestId: id, level: "error", route: "/api/users/refresh", status: 500 }]);
});

describe("401", () => {
  test.each([
    ["no token", {}, "Bearer"],
    ["a malformed one", { authorization: "Bearer a b" }, 'Bearer error="invalid_token"'],
    ["another scheme", { authorization: "Basic YTpi" }, 'Bearer error="invalid_token"'],
  ])("with %s", async (_what, headers, challenge) => {
    const server = await startHttp();
    const answer = await get(`${server.url}/api/users/check-token`, headers as Record<string, string>);
    expect(answer.status).toBe(401);
    expect(answer.body.code).toBe("invalid_token");
    expect(answer.headers.get("www-authenticate")).toBe(challenge);
  });

  test("a token in the body was sent, too; none at all was not", async () => {
    const server = await startHttp();
    const url = `${server.url}/api/users/check-token`;
    expect((await post(url, '{"token":"bad"}')).headers.get("www-authenticate")).toBe('Bearer error="invalid_token"');
    expect((await post(url, undefined, {})).headers.get("www-authenticate")).toBe("Bearer");
    expect((await post(url, '{"token":"good"}')).status).toBe(200);
  });

  test("a sign-in that failed is about no token", async () => {
    const server = await startHttp();
    const answer = await post(`${server.url}/api/users/refresh`, '{"refreshToken":"grant"}');
    expect(answer.status).toBe(401);
    expect(answer.headers.get("www-authenticate")).toBe("Bearer");
    expect(answer.text).not.toContain("family 7");
  });
});

describe("the scheme of Authorization", () => {
  test.each(["Bearer good", "bearer good", "BEARER  good"])("%s", async (authorization) => {
    const server = await startHttp();
    expect((await get(`${server.url}/api/users/check-token`, { authorization })).status).toBe(200);
  });
});

test("HEAD has the headers of GET and no body", async () => {
  const server = await startHttp();
  const client = new RawClient(server.port);
  client.send("HEAD /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  await client.untilClosed();
  expect(client.received).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  expect(client.received.toLowerCase()).toContain("content-length: 15");
  expect(client.received.endsWith("\r\n\r\n")).toBe(true);
});

test("405 says what the address does answer", async () => {
  const server = await startHttp();
  const allowed = async (method: string, path: string) => {
    const answer = await rawExchange(server.port, `${method} ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
    return [answer.status, answer.headers.get("allow")];
  };
  expect(await allowed("POST", "/healthz")).toEqual([405, "GET, HEAD, OPTIONS"]);
  expect(await allowed("GET", "/api/users/login")).toEqual([405, "POST, OPTIONS"]);
  expect(await allowed("DELETE", "/api/users/check-token?x=1")).toEqual([405, "GET, HEAD, POST, OPTIONS"]);
  expect(await allowed("PROPFIND", "/api/tenants/demo/auth-config")).toEqual([405, "GET, HEAD, OPTIONS"]);
  expect(await allowed("TRACE", "/healthz")).toEqual([405, "GET, HEAD, OPTIONS"]);
  expect(await allowed("OPTIONS", "/healthz")).toEqual([204, "GET, HEAD, OPTIONS"]);
  expect(await allowed("OPTIONS", "/nowhere")).toEqual([404, undefined]);
  expect(await allowed("DELETE", "/%zz")).toEqual([400, undefined]);
});

test.each([
  "/../etc/passwd",
  "/api/users/../../etc/passwd",
  "/%2e%2e/%2e%2e/etc/passwd",
  "/docs/..%2f..%2fpackage.json",
  "//healthz",
  "/healthz/",
  "/HEALTHZ",
  "/healthz;x",
  "/api/users/login%00",
  "/api/tenants/demo%00/auth-config",
  "/api/tenants/%ff/auth-config",
  "/%",
  "*",
  "http://other.example/nowhere",
])("the target %s leads nowhere", async (target) => {
  const before = shared.reached();
  const answer = await rawExchange(shared.port, `GET ${target} HTTP/1.1\r\nHost: a\r\n\r\n`);
  expect([400, 404]).toContain(answer.status);
  expect(JSON.parse(answer.body).code).toMatch(/^(invalid_request|not_found)$/);
  expect(shared.reached()).toBe(before);
});

test.each(["Authorization: Bearer good", "Host: a", "DPoP: x", "X-Tenant-Id: demo", "X-Device-Token: d"])(
  "%s twice is 400, also when both are equal",
  async (line) => {
    const server = await startHttp();
    const host = line.startsWith("Host") ? "" : "Host: a\r\n";
    const text = `GET /api/users/check-token HTTP/1.1\r\n${host}${line}\r\n${line.toLowerCase()}\r\n\r\n`;
    const answer = await rawExchange(server.port, text);
    expect(answer.status).toBe(400);
    expect(JSON.parse(answer.body)).toMatchObject({ field: line.split(":")[0]?.toLowerCase() });
    expect(server.reached()).toBe(0);
  },
);

test("handlers are given the headers of their routes", async () => {
  const server = await startHttp();
  const path = "/api/tenants/d%C3%A9mo/auth-config";
  const headers = { "x-tenant-id": "demo", "x-device-token": "d1", dpop: "p1" };
  expect((await get(server.url + path, headers)).body.name).toBe("démo|demo|d1|p1");
  expect((await get(server.url + path, { "x-tenant-id": "" })).body.name).toBe("démo|null|null|null");
});
