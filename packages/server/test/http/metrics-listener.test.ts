import { expect, onTestFinished, test } from "vitest";
import { createMetrics } from "../../src/http/metrics.ts";
import { listenForMetrics } from "../../src/http/metrics-listener.ts";

async function start(token: string | null, host = "127.0.0.1") {
  const listener = await listenForMetrics(createMetrics(), { host, port: 0, token });
  onTestFinished(() => listener.close());
  return listener.url;
}

test("metrics are read without a token on loopback", async () => {
  const url = await start(null);
  const answer = await fetch(url);
  expect(answer.status).toBe(200);
  expect(answer.headers.get("content-type")).toContain("text/plain; version=0.0.4");
  expect(answer.headers.get("cache-control")).toBe("no-store");
  expect(await answer.text()).toContain("process_cpu_user_seconds_total");
});

test("with a token they are read only with that token", async () => {
  const url = await start("correct-horse");
  const status = async (authorization?: string) =>
    (await fetch(url, { headers: authorization ? { authorization } : {} })).status;
  expect(await status("Bearer correct-horse")).toBe(200);
  expect(await status("bearer correct-horse")).toBe(200);
  for (const wrong of [
    undefined,
    "Bearer correct-hors",
    "Bearer correct-horsee",
    "Basic correct-horse",
    "Bearer a b",
  ]) {
    expect(await status(wrong)).toBe(401);
  }
});

test("there is nothing else", async () => {
  const url = await start(null);
  expect((await fetch(new URL("/", url))).status).toBe(404);
  expect((await fetch(`${url}?a=1`)).status).toBe(404);
  const answer = await fetch(url, { method: "POST", body: "x" });
  expect([answer.status, answer.headers.get("allow")]).toEqual([405, "GET"]);
});

test("an address that others can reach needs a token", async () => {
  await expect(start(null, "0.0.0.0")).rejects.toThrow("metrics.token");
  await expect(start(null, "::")).rejects.toThrow("metrics.token");
});
