import { routes } from "@fieldgate/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { updateTenant } from "../../src/people/tenants.ts";
import { databases, type FreshDatabase } from "../kit/databases.ts";
import { goodPassword, startNode, type TestNode } from "../kit/node.ts";
import { sendRaw } from "./raw-request.ts";

interface Named {
  readonly body?: string;
  readonly header?: string;
  readonly host?: string;
}

describe.each(databases)("TEN1: which tenant a request is for, on $name", ({ fresh }) => {
  let database: FreshDatabase;
  let node: TestNode;
  let strict: TestNode;

  beforeAll(async () => {
    database = await fresh();
    node = await startNode({ database: database.config, config: { defaultTenant: "home" } });
    strict = await startNode({ database: database.config, config: { defaultTenant: null } });
    await node.addTenant("home");
    await node.addTenant("a", { hosts: ["a.example.org", "münchen.example.org"] });
    await node.addTenant("b", { hosts: ["b.example.org"] });
    await node.addTenant("closed", { hosts: ["closed.example.org"] });
    // The same name everywhere: only the tenant decides who it is.
    for (const tenantId of ["home", "a", "b", "closed"]) await node.addWorker({ tenantId, username: "amina" });
    await node.app.services.store.transaction((tx) =>
      updateTenant(tx, "closed", { disabled: true }, { loopbackHttp: true }),
    );
  });
  afterAll(async () => {
    await node?.close();
    await strict?.close();
    await database?.drop();
  });

  async function ask(path: string, { body, header, host }: Named, fields: object, on = node) {
    const answer = await sendRaw(on.url, {
      method: "POST",
      path,
      headers: {
        "content-type": "application/json",
        host: host ?? new URL(on.url).host,
        ...(header !== undefined && { "x-tenant-id": header }),
      },
      body: JSON.stringify({ ...fields, ...(body !== undefined && { tenantId: body }) }),
    });
    return answer.body?.code ?? answer.body?.tenantId ?? answer.status;
  }

  const login = (named: Named, on = node) =>
    ask(routes.login.path, named, { username: "amina", password: goodPassword }, on);

  test("each place by itself, and all that agree", async () => {
    for (const named of [
      { body: "a" },
      { header: "a" },
      { host: "a.example.org" },
      { body: "a", header: "a" },
      { body: "a", host: "a.example.org" },
      { header: "a", host: "a.example.org" },
      { body: "a", header: "a", host: "a.example.org" },
    ]) {
      expect(await login(named), JSON.stringify(named)).toBe("a");
      expect(await login(named, strict), JSON.stringify(named)).toBe("a");
    }
  });

  test("any two that disagree are a conflict, whether the tenants exist or not", async () => {
    const places = ["a", "b", "nowhere", undefined] as const;
    const hosts = ["a.example.org", "b.example.org", "closed.example.org", undefined] as const;
    const tenantOf = { "a.example.org": "a", "b.example.org": "b", "closed.example.org": "closed" };
    let conflicts = 0;
    for (const body of places) {
      for (const header of places) {
        for (const host of hosts) {
          const stated = new Set([body, header, host && tenantOf[host]].filter((id) => id !== undefined));
          if (stated.size < 2) continue;
          conflicts += 1;
          const named = {
            ...(body !== undefined && { body }),
            ...(header !== undefined && { header }),
            ...(host !== undefined && { host }),
          };
          const about = JSON.stringify(named);
          expect(await login(named), about).toBe("tenant_conflict");
          expect(await ask(routes.refresh.path, named, { refreshToken: "x" }), about).toBe("tenant_conflict");
          expect(await ask(routes.logout.path, named, { refreshToken: "x" }), about).toBe("tenant_conflict");
        }
      }
    }
    expect(conflicts).toBe(45);
  });

  test("none given: the default tenant, and where there is none, a 400 that says so", async () => {
    expect(await login({})).toBe("home");
    expect(await login({ host: "unmapped.example.org" })).toBe("home");
    expect(await login({ header: "" })).toBe("home");
    expect(await login({}, strict)).toBe("tenant_required");
    expect(await login({ host: "unmapped.example.org" }, strict)).toBe("tenant_required");
    // The default fills a gap; it contradicts nobody.
    expect(await login({ header: "b" })).toBe("b");
  });

  test("a host is a host however it is written", async () => {
    const { port } = new URL(node.url);
    const spellings = [
      "A.EXAMPLE.ORG",
      `a.example.org:${port}`,
      "a.example.org:443",
      "a.example.org.",
      "A.Example.Org.:8443",
    ];
    spellings.push("xn--mnchen-3ya.example.org", "XN--MNCHEN-3YA.example.org.");
    for (const host of spellings) expect(await login({ host }), host).toBe("a");
    const others = ["a.example.org.evil.example", "xa.example.org", "a_example.org", "a.example.org:x"];
    others.push("[::1]", "127.0.0.1", "a.example.org@b.example.org", "a.example.org/b.example.org", "a.example.org,b");
    for (const host of others) expect(await login({ host }), host).toBe("home");
  });

  test("forwarded hosts of strangers are not believed", async () => {
    for (const name of ["x-forwarded-host", "forwarded", "x-host", "x-original-host"]) {
      const answer = await sendRaw(node.url, {
        method: "POST",
        path: routes.login.path,
        headers: {
          "content-type": "application/json",
          [name]: name === "forwarded" ? "host=b.example.org" : "b.example.org",
        },
        body: JSON.stringify({ username: "amina", password: goodPassword }),
      });
      expect(answer.body?.tenantId, name).toBe("home");
    }
  });

  test("an unknown or disabled tenant answers like an unknown user; a malformed one is named", async () => {
    expect(await login({ body: "nowhere" })).toBe("invalid_credentials");
    expect(await login({ header: "nowhere" })).toBe("invalid_credentials");
    expect(await login({ body: "closed" })).toBe("invalid_credentials");
    expect(await login({ host: "closed.example.org" })).toBe("invalid_credentials");
    for (const odd of ["A", "a ", "_", "-a", "a-", "a.b", "a/b", "../a", "a'--", "x".repeat(64), "%61"]) {
      expect(await login({ body: odd }), odd).toBe("invalid_request");
      // The white space around a header's value is not part of it.
      expect(await login({ header: odd }), odd).toBe(odd === "a " ? "a" : "invalid_request");
    }
    const twice = await sendRaw(node.url, {
      method: "POST",
      path: routes.login.path,
      headers: { "content-type": "application/json", "x-tenant-id": ["a", "b"] },
      body: JSON.stringify({ username: "amina", password: goodPassword }),
    });
    expect(twice.body?.code).toBe("invalid_request");
  });
});
