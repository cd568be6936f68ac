import { expect, test } from "vitest";
import { defaultPolicy } from "../../src/config/policy.ts";
import { get, startHttp, until } from "./http-kit.ts";
import { RawClient } from "./raw-client.ts";

const hasty = { ...defaultPolicy.http, headersTimeout: 0.3, requestTimeout: 0.6 };
const check = "GET /api/users/check-token HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer good\r\n\r\n";

test("the limits are those of the baseline", () => {
  expect(defaultPolicy.http).toMatchObject({ bodyLimit: 16 * 1024, headersTimeout: 10, requestTimeout: 15 });
});

test.each([
  ["that never says a word", ""],
  ["that never ends its first line", "GET /heal"],
  ["that never ends its headers", "GET /healthz HTTP/1.1\r\nHost: a\r\nX-A: b\r\n"],
  [
    "that never ends its body",
    "POST /api/users/login HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 40\r\n\r\n{",
  ],
  [
    "that never ends its chunks",
    "POST /api/users/login HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{",
  ],
])("a connection %s is answered 408 and closed", async (_what, text) => {
  const server = await startHttp({ limits: hasty });
  const client = new RawClient(server.port);
  client.send(text);
  const answers = await client.untilClosed();
  expect(answers.map(({ status }) => status)).toEqual([408]);
  expect(JSON.parse(answers[0]?.body ?? "")).toMatchObject({ code: "request_timeout", status: 408 });
  expect(server.reached()).toBe(0);
  await until(() => server.app.gate.inFlight === 0);
});

test("a connection that drips one header after another does not win time", async () => {
  const server = await startHttp({ limits: hasty });
  const client = new RawClient(server.port);
  client.send("GET /healthz HTTP/1.1\r\nHost: a\r\n");
  const drip = setInterval(() => client.send("X-A: b\r\n"), 50);
  const started = performance.now();
  const answers = await client.untilClosed();
  clearInterval(drip);
  expect(answers[0]?.status).toBe(408);
  expect(performance.now() - started).toBeLessThan(5_000);
});

test("an oversized upload that goes on after its 413 is cut off", async () => {
  const server = await startHttp({ limits: hasty });
  const client = new RawClient(server.port);
  client.send(
    "POST /api/users/login HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 99999999\r\n\r\n",
  );
  const pour = setInterval(() => client.send("x".repeat(1000)), 20);
  const answers = await client.untilClosed();
  clearInterval(pour);
  expect(answers.map(({ status }) => status)).toEqual([413]);
});

test.each([
  ["no HTTP at all", "HELLO\r\n\r\n"],
  ["TLS on a plain port", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"],
  ["another version", "GET / HTTP/3.0\r\nHost: a\r\n\r\n"],
  ["a space in a header's name", "GET / HTTP/1.1\r\nHost: a\r\nBad Name: x\r\n\r\n"],
  ["NUL in a header", "GET / HTTP/1.1\r\nHost: a\r\nX: a\0b\r\n\r\n"],
  ["two lengths", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx"],
  [
    "a length and chunks",
    "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
  ],
  ["a negative length", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n"],
  ["no host", "GET /healthz HTTP/1.1\r\n\r\n"],
])("%s is 400", async (_what, text) => {
  const server = await startHttp();
  const client = new RawClient(server.port);
  client.send(Buffer.from(text, "latin1"));
  const [answer] = await client.answers(1);
  expect(answer?.status).toBe(400);
  expect(JSON.parse(answer?.body ?? "")).toMatchObject({ code: "invalid_request" });
  expect(server.reached()).toBe(0);
});

test("chunks that are no chunks are 400", async () => {
  const server = await startHttp();
  const client = new RawClient(server.port);
  client.send(
    "POST /api/users/login HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
  );
  const answers = await client.untilClosed();
  expect(answers.map(({ status }) => status)).toEqual([400]);
  await until(() => server.app.gate.inFlight === 0);
});

test("CONNECT is closed, and an upgrade is a plain request", async () => {
  const server = await startHttp();
  const tunnel = new RawClient(server.port);
  tunnel.send("CONNECT other.example:443 HTTP/1.1\r\nHost: other.example:443\r\n\r\n");
  await tunnel.untilClosed();
  const upgrade = new RawClient(server.port);
  upgrade.send("GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
  expect((await upgrade.answers(1))[0]?.status).toBe(200);
});

test("pipelined requests are answered in their order", async () => {
  const server = await startHttp();
  const client = new RawClient(server.port);
  client.send(
    `${check}GET /nowhere HTTP/1.1\r\nHost: a\r\n\r\n${check}GET /healthz?token=x HTTP/1.1\r\nHost: a\r\n\r\n${check}`,
  );
  const answers = await client.answers(5);
  expect(answers.map(({ status }) => status)).toEqual([200, 404, 200, 400, 200]);
  const ids = answers.map(({ headers }) => headers.get("x-request-id"));
  expect(new Set(ids).size).toBe(5);
});

test("a slow answer is not overtaken by the next one on its connection", async () => {
  const server = await startHttp();
  const client = new RawClient(server.port);
  client.send(`GET /api/users/me HTTP/1.1\r\nHost: a\r\n\r\n${check}`);
  await server.waiting;
  await until(() => server.reached() === 2);
  expect(client.received).toBe("");
  server.letGo();
  const [first, second] = await client.answers(2);
  expect(JSON.parse(first?.body ?? "")).toMatchObject({ kind: "field-worker" });
  expect(JSON.parse(second?.body ?? "")).toMatchObject({ valid: true });
});

test("bad bytes after a good request do not cost it its answer", async () => {
  const server = await startHttp();
  const client = new RawClient(server.port);
  client.send("GET /api/users/me HTTP/1.1\r\nHost: a\r\n\r\n");
  await server.waiting;
  client.send("GARBAGE\r\n\r\n");
  setTimeout(server.letGo, 50);
  const answers = await client.untilClosed();
  expect(answers.map(({ status }) => status)).toEqual([200]);
});

test("a connection serves thousands of requests", async () => {
  const server = await startHttp();
  const client = new RawClient(server.port);
  for (let round = 0; round < 20; round++) {
    client.send(check.repeat(100));
    await client.answers((round + 1) * 100);
  }
  expect(server.reached()).toBe(2000);
});

test("clients that go away are counted as such, and nothing stays in flight", async () => {
  const server = await startHttp();
  const client = new RawClient(server.port);
  client.send(`GET /api/users/me HTTP/1.1\r\nHost: a\r\n\r\n${check.repeat(5)}`);
  await server.waiting;
  await until(() => server.reached() === 6);
  client.socket.destroy();
  await until(() => server.app.gate.inFlight === 0);
  server.letGo();
  const text = await server.settings.metrics.registry.metrics();
  expect(text).toContain('_count{route="/api/users/me",method="GET",status="aborted"} 1');
  expect((await get(`${server.url}/healthz`)).status).toBe(200);
});
