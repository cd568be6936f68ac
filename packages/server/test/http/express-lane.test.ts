import { type JsonWebKeySet, routes } from "@fieldgate/contract";
import { beforeAll, describe, expect, test } from "vitest";
import { Fault } from "../../src/fault.ts";
import { registerRoute } from "../../src/http/route.ts";
import { get, openHttp, startHttp, type TestServer } from "./http-kit.ts";
import { RawClient } from "./raw-client.ts";

let server: TestServer;
beforeAll(async () => {
  server = await openHttp({ corsOrigins: ["https://portal.example"] });
  server.letGo();
  return server.close;
});

/** The same question on both ways: a query makes a request take the long one. */
const targets = (path: string) => [path, `${path}?way=long`];

async function ask(target: string, lines: string[]): Promise<string> {
  const client = new RawClient(server.port);
  client.send([`GET ${target} HTTP/1.1`, "Host: a", "Connection: close", ...lines, "", ""].join("\r\n"));
  await client.untilClosed();
  const varying = /^(x-request-id|date): .*$|[0-9a-f]{8}-[0-9a-f-]{27}/gim;
  const [head = "", body] = client.received.replace(varying, "…").split("\r\n\r\n");
  // The order of headers means nothing.
  return `${head.toLowerCase().split("\r\n").toSorted().join("\n")}\n\n${body}`;
}

describe.each([
  ["/api/users/check-token", ["Authorization: Bearer good"]],
  ["/api/users/check-token", ["Authorization: Bearer good", "Origin: https://portal.example"]],
  ["/api/users/check-token", []],
  ["/api/users/check-token", ["Authorization: Bearer a b", "Origin: https://portal.example"]],
  ["/api/users/me", []],
  ["/.well-known/jwks.json", []],
  ["/healthz", []],
  ["/readyz", []],
])("%s with %j", (path, lines) => {
  test("is answered alike on both ways", async () => {
    const [short = "", long = ""] = targets(path);
    expect(server.app.gate.express.has(path)).toBe(true);
    expect(await ask(short, lines)).toBe(await ask(long, lines));
  });
});

test("only a GET of exactly that address takes the short way", () => {
  const { express } = server.app.gate;
  expect([...express.keys()].toSorted()).toEqual(
    ["/.well-known/jwks.json", "/api/users/check-token", "/api/users/me", "/healthz", "/readyz"].toSorted(),
  );
});

test.each([
  [
    "throws a fault",
    () => {
      throw new Fault("busy");
    },
    503,
  ],
  [
    "rejects with a fault",
    async () => {
      throw new Fault("busy");
    },
    503,
  ],
  [
    "throws",
    () => {
      throw new Error("open-sesame");
    },
    500,
  ],
  [
    "rejects",
    async () => {
      throw new Error("open-sesame");
    },
    500,
  ],
  ["answers what cannot be written", () => ({ keys: [{}] }), 500],
  ["answers later what cannot be written", async () => ({ keys: [{}] }), 500],
])("a handler that %s is answered as a problem", async (_what, handler, status) => {
  const { url, log } = await startHttp({}, (app) =>
    registerRoute(app, { ...routes.jwks, path: "/short" }, handler as () => JsonWebKeySet),
  );
  const answer = await get(`${url}/short`);
  expect(answer.status).toBe(status);
  expect(answer.text).not.toContain("sesame");
  expect(log).toMatchObject([{ level: "error", route: "/short", status }]);
});

test("both ways are counted as one route", async () => {
  const { url, settings } = await startHttp();
  await get(`${url}/healthz`);
  await get(`${url}/healthz?way=long`);
  expect(await settings.metrics.registry.metrics()).toContain('_count{route="/healthz",method="GET",status="200"} 2');
});
