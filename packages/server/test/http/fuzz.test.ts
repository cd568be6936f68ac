import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import { openHttp, type TestServer } from "./http-kit.ts";
import { RawClient } from "./raw-client.ts";

let server: TestServer;
beforeAll(async () => {
  server = await openHttp({ corsOrigins: ["https://portal.example"], trustedProxies: ["127.0.0.1"] });
  return server.close;
});

/** Whatever comes in: the answer blames the client, in our form, or there is none because the client hung up. */
async function demandDecentAnswer(bytes: Buffer): Promise<void> {
  const client = new RawClient(server.port);
  client.socket.end(bytes);
  for (const { status, headers, body } of await client.untilClosed()) {
    expect(status).toBeLessThan(500);
    expect(headers.get("cache-control")).toBe("no-store");
    if (status >= 400) expect(JSON.parse(body)).toMatchObject({ status });
  }
}

test("no body makes the service fail", { timeout: 60_000 }, async () => {
  const seeds = [
    '{"username":"a","password":"b"}',
    '{"email":"a","username":"a","password":"b"}',
    '{"a":[{"b":null}]}',
  ];
  const body = fc.oneof(
    fc.json({ maxDepth: 5 }),
    fc.string({ unit: "binary", maxLength: 60 }),
    fc.tuple(fc.constantFrom(...seeds), fc.nat(60), fc.string({ maxLength: 4 })).map(([seed, at, text]) => {
      return seed.slice(0, at) + text + seed.slice(at + 1);
    }),
  );
  await fc.assert(
    fc.asyncProperty(body, fc.boolean(), async (text, chunked) => {
      const bytes = Buffer.from(text);
      const length = chunked ? "Transfer-Encoding: chunked" : `Content-Length: ${bytes.length}`;
      const head = `POST /api/users/login HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: application/json\r\n${length}\r\n\r\n`;
      const size = Buffer.from(`${bytes.length.toString(16)}\r\n`);
      const chunks = bytes.length === 0 ? [] : [size, bytes, Buffer.from("\r\n")];
      const sent = chunked ? [...chunks, Buffer.from("0\r\n\r\n")] : [bytes];
      await demandDecentAnswer(Buffer.concat([Buffer.from(head), ...sent]));
    }),
    { numRuns: 150 },
  );
});

test("no request line and no headers make the service fail", { timeout: 60_000 }, async () => {
  const names = [
    "Host",
    "Authorization",
    "X-Forwarded-For",
    "X-Forwarded-Host",
    "X-Forwarded-Proto",
    "Origin",
    "Expect",
  ];
  const more = [
    "X-Request-Id",
    "Content-Type",
    "Content-Length",
    "Transfer-Encoding",
    "Connection",
    "Upgrade",
    "Accept-Version",
  ];
  const value = fc.oneof(
    fc.string({ maxLength: 30 }),
    fc.constantFrom("Bearer a", "chunked", "upgrade", "0", "1.1.1.1, ::1", "https"),
  );
  const header = fc.tuple(fc.constantFrom(...names, ...more), value).map(([name, text]) => `${name}: ${text}`);
  const method = fc.constantFrom("GET", "POST", "HEAD", "OPTIONS", "DELETE", "PATCH", "BREW", "get", "");
  const target = fc.oneof(
    fc.webPath(),
    fc.string({ maxLength: 20 }).map((text) => `/${text}`),
    fc.constantFrom(
      "/api/users/check-token",
      "/api/tenants/%00/auth-config",
      "*",
      "http://[::1",
      "/?%",
      "/docs/%2e%2e/x",
    ),
  );
  await fc.assert(
    fc.asyncProperty(method, target, fc.array(header, { maxLength: 6 }), async (verb, path, headers) => {
      const text = [`${verb} ${path} HTTP/1.1`, "Host: a", ...headers, "", ""].join("\r\n");
      await demandDecentAnswer(Buffer.from(text, "latin1"));
    }),
    { numRuns: 250 },
  );
});

test("and after all that it still works, with nothing left in flight", async () => {
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
  expect(server.log.filter(({ level }) => level === "error")).toEqual([]);
  expect(server.app.gate.inFlight).toBe(0);
});
