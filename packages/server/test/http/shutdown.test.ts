import { describe, expect, test } from "vitest";
import { shutDown } from "../../src/http/shutdown.ts";
import { get, post, startHttp } from "./http-kit.ts";
import { RawClient } from "./raw-client.ts";

const me = "GET /api/users/me HTTP/1.1\r\nHost: a\r\n\r\n";
const ready = "GET /readyz HTTP/1.1\r\nHost: a\r\n\r\n";

describe("shutdown", () => {
  test("finishes what is in flight, then closes its connection", async () => {
    const server = await startHttp();
    const client = new RawClient(server.port);
    client.send(me);
    await server.waiting;
    const down = shutDown(server.app, 20);
    await expect(get(`${server.url}/healthz`)).rejects.toThrow();
    server.letGo();
    const answers = await client.untilClosed();
    expect(answers.map(({ status }) => status)).toEqual([200]);
    expect(answers[0]?.headers.get("connection")).toBe("close");
    await down;
  });

  test("waits for a body that is still on its way", async () => {
    const server = await startHttp();
    const body = '{"username":"amina","password":"x"}';
    const client = new RawClient(server.port);
    client.send(
      `POST /api/users/login HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 9)}`,
    );
    while (server.app.gate.inFlight === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    const down = shutDown(server.app, 20);
    client.send(body.slice(9));
    const answers = await client.untilClosed();
    expect(answers.map(({ status }) => status)).toEqual([200]);
    await down;
  });

  test("does not wait for connections that ask nothing", async () => {
    const server = await startHttp();
    const silent = new RawClient(server.port);
    const idle = new RawClient(server.port);
    const half = new RawClient(server.port);
    idle.send(ready);
    half.send("GET /he");
    await idle.answers(1);
    const started = performance.now();
    await shutDown(server.app, 20);
    expect(performance.now() - started).toBeLessThan(5_000);
    expect(await silent.untilClosed()).toEqual([]);
    expect(await idle.untilClosed()).toHaveLength(1);
    expect(await half.untilClosed()).toEqual([]);
  });

  test("cuts off after its time what does not end", async () => {
    const server = await startHttp();
    const client = new RawClient(server.port);
    client.send(me);
    await server.waiting;
    const started = performance.now();
    await shutDown(server.app, 0.2);
    expect(performance.now() - started).toBeGreaterThan(190);
    expect(await client.untilClosed()).toEqual([]);
  });

  test("first says so at /readyz, while everything else is still answered", async () => {
    const server = await startHttp();
    expect((await get(`${server.url}/readyz`)).status).toBe(200);
    const down = shutDown(server.app, 20, 2);
    const notReady = await get(`${server.url}/readyz`);
    expect(notReady.status).toBe(503);
    expect(notReady.headers.get("retry-after")).toBe("1");
    expect((await get(`${server.url}/healthz`)).status).toBe(200);
    expect((await post(`${server.url}/api/users/login`, '{"username":"a","password":"x"}')).status).toBe(200);
    await down;
    await expect(get(`${server.url}/healthz`)).rejects.toThrow();
  });
});

test("/readyz is 503 while the service cannot work, and again 200 when it can", async () => {
  let isReady = false;
  const server = await startHttp({ isReady: async () => isReady });
  expect((await get(`${server.url}/readyz`)).body).toMatchObject({ status: 503, code: "unavailable" });
  expect((await get(`${server.url}/healthz`)).status).toBe(200);
  isReady = true;
  expect((await get(`${server.url}/readyz`)).body).toEqual({ status: "ok" });
});
