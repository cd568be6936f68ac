import type { AddressInfo } from "node:net";
import { type CurrentUser, type Route, routes } from "@fieldgate/contract";
import { expect, onTestFinished, test } from "vitest";
import { createHttpServer } from "../../src/http/create-http-server.ts";
import { createMetrics } from "../../src/http/metrics.ts";
import { registerRoute } from "../../src/http/route.ts";
import { get, post, startHttp } from "./http-kit.ts";

test("an answer that breaks its schema is a 500, and the log says where", async () => {
  const { settings, log } = await startHttp();
  const app = createHttpServer({ ...settings, metrics: createMetrics(), checkAnswers: true });
  onTestFinished(() => app.close());
  registerRoute(app, routes.me, () => ({ userId: "1", username: "amina", kind: "robot" }) as unknown as CurrentUser);
  await app.listen({ host: "127.0.0.1", port: 0 });
  const answer = await get(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}${routes.me.path}`);
  expect(answer.status).toBe(500);
  expect(answer.text).not.toContain("CurrentUser");
  expect(JSON.stringify(log)).toContain("The answer of GET /api/users/me is no CurrentUser");
});

test("a route with two successes is a mistake of ours, found at the start", async () => {
  const { settings } = await startHttp();
  const app = createHttpServer({ ...settings, metrics: createMetrics() });
  const odd: Route = { ...routes.health, response: { 200: null, 204: null } };
  expect(() => registerRoute(app, odd, () => undefined)).toThrow("GET /healthz must have exactly one success status.");
});

test.each([
  ["crash", 500, "internal", null],
  ["store", 503, "unavailable", "1"],
  ["busy", 503, "busy", "1"],
  ["locked", 429, "too_many_attempts", "30"],
])("a flow that ends with %s is %i %s", async (how, status, code, retryAfter) => {
  const server = await startHttp();
  const answer = await post(`${server.url}/api/users/refresh`, JSON.stringify({ refreshToken: how }));
  expect(answer.status).toBe(status);
  expect(answer.body).toMatchObject({ status, code, error: code, message: answer.body.detail });
  expect(answer.headers.get("retry-after")).toBe(retryAfter);
  expect(answer.text).not.toMatch(/sesame|ECONNREFUSED|10\.0\.0\.5|relation/);
});

test("a crash is logged with its stack, an outage with its cause", async () => {
  const server = await startHttp();
  await post(`${server.url}/api/users/refresh`, '{"refreshToken":"crash"}');
  await post(`${server.url}/api/users/refresh`, '{"refreshToken":"store"}');
  expect(server.log).toMatchObject([
    { level: "error", error: "internal", err: { type: "Error", stack: expect.stringContaining("http-kit.ts") } },
    { level: "error", error: "unavailable", err: { type: "StoreUnavailable" } },
  ]);
});

test("a success is counted and not logged; a refusal is both, by route and not by address", async () => {
  const server = await startHttp();
  await get(`${server.url}/api/users/check-token`, { authorization: "Bearer good" });
  expect(server.log).toEqual([]);
  await get(`${server.url}/api/tenants/${"x".repeat(120)}/auth-config`);
  await post(`${server.url}/api/users/login`, '{"username":"amina"}');
  expect(server.log).toMatchObject([
    { level: "info", route: "unmatched", status: 414, network: "127.0.0.0/24" },
    { level: "info", route: "/api/users/login", status: 400, error: "invalid_request" },
  ]);
  expect(JSON.stringify(server.log)).not.toMatch(/127\.0\.0\.1|amina|xxx/);
  const text = await server.settings.metrics.registry.metrics();
  expect(text).toContain('_count{route="/api/users/check-token",method="GET",status="200"} 1');
  expect(text).toContain('_count{route="/api/users/login",method="POST",status="400"} 1');
  expect(text).toContain('_count{route="unmatched",method="any",status="414"} 1');
  expect(text).toContain("fieldgate_http_requests_in_flight 0");
});
