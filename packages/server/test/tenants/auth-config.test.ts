import { routes } from "@fieldgate/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { updateTenant } from "../../src/people/tenants.ts";
import { databases, type FreshDatabase } from "../kit/databases.ts";
import { startNode, type TestNode } from "../kit/node.ts";
import { sendRaw } from "./raw-request.ts";

const adapters = [
  { type: "otp", fields: { serverUrl: "https://id.example.org" } },
  { type: "oidc_a", fields: { authority: "https://login.example.org", client_id: "app", organization: "org_1" } },
];

describe.each(databases)("TEN1: what a stranger learns of a tenant, on $name", ({ fresh }) => {
  let database: FreshDatabase;
  let node: TestNode;

  beforeAll(async () => {
    database = await fresh();
    node = await startNode({ database: database.config });
    const policy = { tokens: { workerAccess: 300 } };
    const identityProviders = { oidc_a: { requiredRole: "field", roleMapping: { leads: "supervisor" } } };
    const hosts = ["known.example.org"];
    await node.addTenant("known", { adapters, identityProviders, defaultCountry: "KE", hosts, policy });
    await node.addTenant("bare");
    await node.addTenant("closed", { adapters: adapters.slice(0, 1) });
    await node.app.services.store.transaction((tx) =>
      updateTenant(tx, "closed", { disabled: true }, { loopbackHttp: true }),
    );
  });
  afterAll(async () => {
    await node?.close();
    await database?.drop();
  });

  const get = (id: string, headers: Record<string, string> = {}) =>
    sendRaw(node.url, { method: "GET", path: `/api/tenants/${id}/auth-config`, headers });

  test("a known tenant: its ways in and nothing else", async () => {
    const { status, body } = await get("known");
    expect([status, body]).toEqual([
      200,
      { tenantId: "known", name: "Programme known", defaultCountry: "KE", adapters },
    ]);
    expect((await get("bare")).body).toEqual({ tenantId: "bare", name: "Programme bare", adapters: [] });
    // Neither header nor host can turn one tenant's address into another's.
    const turned = await get("bare", { "x-tenant-id": "known", host: "known.example.org" });
    expect(turned.body?.tenantId).toBe("bare");
  });

  test("where ID numbers open the door, whether a year alone is accepted as date of birth, and it is so", async () => {
    const byId = { type: "id", fields: { serverUrl: "https://id.example.org" } };
    await node.addTenant("lenient", { adapters: [byId] });
    await node.addTenant("strict", { adapters: [byId], nationalId: { birthYearAlone: false } });
    const answers: unknown[] = [];
    for (const tenantId of ["lenient", "strict"]) {
      const body = { idNumber: "1", dateOfBirth: "1950", tenantId };
      const { status, body: problem } = await node.api.call(routes.idVerify, { body });
      answers.push([(await get(tenantId)).body?.birthYearAlone, status, problem.field]);
    }
    expect(answers).toEqual([
      [true, 401, undefined],
      [false, 400, "dateOfBirth"],
    ]);
  });

  test("unknown, disabled and hostile ids are all the same 404", async () => {
    const told = new Set<string>();
    const ids = [
      "unknown",
      "closed",
      "KNOWN",
      "known%20",
      "%6bnown%2e",
      "_",
      "..%2fknown",
      "known%2Fauth-config",
      "-known",
    ];
    ids.push(
      "known'%20OR%20'1'='1",
      "known;",
      "known%0a",
      "%F0%9F%94%91",
      "__proto__",
      "constructor",
      "null",
      "*",
      "%25",
    );
    for (const id of ids) {
      const { status, text } = await get(id);
      expect(status, id).toBe(404);
      told.add(text.replace(/urn:uuid:[0-9a-f-]{36}/, ""));
    }
    expect([...told]).toEqual([expect.stringContaining('"code":"tenant_not_found"')]);
  });

  test("what is no id at all is a problem of its own, never a 5xx", async () => {
    const cases: [string, number][] = [
      ["x".repeat(300), 414],
      ["%", 400],
      ["%zz", 400],
      ["%00", 400],
      ["%C3%28", 400],
      ["a/b", 404],
      ["", 404],
      ["..", 404],
    ];
    for (const [id, status] of cases) {
      const answer = await get(id);
      expect(answer.status, id).toBe(status);
      expect(answer.headers["content-type"], id).toContain("application/problem+json");
    }
    expect(routes.authConfig.path).toBe("/api/tenants/:tenantId/auth-config");
  });

  test("a percent-encoded spelling of a real id is that id", async () => {
    expect((await get("%6bnown")).body?.tenantId).toBe("known");
  });
});
