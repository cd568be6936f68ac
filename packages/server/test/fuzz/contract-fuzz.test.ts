import { bodyErrors, commonErrors, type ErrorCode, errors, errorsOf, type Route, routes } from "@fieldgate/contract";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { databases, type FreshDatabase } from "../kit/databases.ts";
import { goodPassword, startNode, type TestNode } from "../kit/node.ts";
import { type RawAnswer, type RawRequest, sendRaw } from "../tenants/raw-request.ts";
import { allRoutes, anyRequest, type Spoils } from "./requests.ts";

/** `FIELDGATE_FUZZ_CASES=20000 npx vitest run packages/server/test/fuzz` looks longer. */
const cases = Number(process.env.FIELDGATE_FUZZ_CASES ?? 600);
const atOnce = 6;
const patience = 2000;

const patterns = allRoutes.map((route) => ({ route, path: new RegExp(`^${route.path.replace(/:\w+/, "[^/]*")}$`) }));

function routeOf({ method, path }: RawRequest): Route | null {
  const [plain = ""] = path.split("?", 1);
  const asked = method === "HEAD" ? "GET" : method;
  return patterns.find(({ route, path }) => route.method === asked && path.test(plain))?.route ?? null;
}

/** Every answer is one the contract names, in the form it names. */
function judge(request: RawRequest, answer: RawAnswer): void {
  const about = `${request.method} ${request.path} → ${answer.status} ${answer.text.slice(0, 500)}`;
  const route = routeOf(request);
  expect(answer.status, about).toBeLessThan(500);
  expect(answer.headers["x-content-type-options"], about).toBe("nosniff");
  expect(answer.text, about).not.toMatch(/\.ts:\d+|node_modules|SQLITE|syntax error/);
  if (answer.status < 400) {
    if (request.method === "OPTIONS") expect(answer.status, about).toBe(204);
    else expect(Object.keys(route?.response ?? {}), about).toContain(String(answer.status));
    return;
  }
  expect(answer.headers["content-type"], about).toBe("application/problem+json; charset=utf-8");
  expect(answer.headers["cache-control"], about).toBe("no-store");
  if (request.method === "HEAD") return;
  const { code, status, detail, message, error, title, type, instance } = answer.body ?? {};
  const allowed: readonly unknown[] = route
    ? errorsOf(route)
    : [...commonErrors, ...bodyErrors, "not_found", "method_not_allowed"];
  expect(allowed, about).toContain(code);
  expect([status, errors[code as ErrorCode].status, error, message], about).toEqual([
    answer.status,
    answer.status,
    code,
    detail,
  ]);
  expect([type, title], about).toEqual([`/docs/errors#${code}`, errors[code as ErrorCode].title]);
  expect(instance, about).toMatch(/^urn:uuid:[0-9a-f-]{36}$/);
  expect(String(detail), about).toMatch(/^\S.*[.]$/su);
}

describe.each(databases)("IN1: whatever is sent, the answer is in the contract, on $name", ({ fresh }) => {
  let database: FreshDatabase;
  let node: TestNode;
  let spoils: (route: Route) => Spoils;

  beforeAll(async () => {
    database = await fresh();
    node = await startNode({ database: database.config });
    await node.addTenant("demo");
    await node.addTenant("other");
    await node.addWorker({ username: "amina" });
    // What ends or uses up a session has one of its own; the others' tokens stay good.
    const [main, ...own] = [await signIn(), await signIn(), await signIn()];
    spoils = (route) => own[[routes.logout.path, routes.refresh.path].indexOf(route.path as never)] ?? main;
  });
  afterAll(async () => {
    await node?.close();
    await database?.drop();
  });

  async function signIn(): Promise<Spoils> {
    const { body } = await node.api.login({ username: "amina", password: goodPassword });
    const { token, refreshToken, deviceToken } = body;
    return { token, refreshToken, deviceToken, username: "amina", password: goodPassword, tenantId: "demo" };
  }

  /** Silence on a busy machine may be an accident; twice it is not. */
  const send = (request: RawRequest) =>
    sendRaw(node.url, { ...request, patience }).catch(() => sendRaw(node.url, { ...request, patience }));

  test(`${cases / databases.length} requests, ${atOnce} at a time`, { timeout: 60_000 + cases * 100 }, async () => {
    let judged = 0;
    const successes = new Set<string>();
    const codes = new Set<unknown>();
    await fc.assert(
      fc.asyncProperty(fc.array(anyRequest(spoils), { minLength: atOnce, maxLength: atOnce }), async (requests) => {
        const answers = await Promise.all(requests.map(send));
        for (const [index, answer] of answers.entries()) {
          const request = requests[index] as RawRequest;
          judge(request, answer);
          judged += 1;
          if (answer.status < 300) successes.add(`${request.method} ${request.path}`);
          else codes.add(answer.body?.code);
        }
      }),
      { numRuns: Math.ceil(cases / databases.length / atOnce), endOnFailure: false },
    );
    // The fuzz reaches behind the first door: some requests succeed, and many kinds of refusal were seen.
    expect(judged).toBeGreaterThanOrEqual(Math.floor(cases / databases.length));
    expect(successes.size).toBeGreaterThan(5);
    expect(codes.size).toBeGreaterThan(6);
    expect((await sendRaw(node.url, { method: "GET", path: "/readyz" })).status).toBe(200);
    const after = await node.api.login(
      { username: "amina", password: goodPassword },
      { headers: { "x-device-token": spoils(routes.me).deviceToken } },
    );
    expect([200, 429]).toContain(after.status);
  });
});
