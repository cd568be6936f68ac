import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { addProviderWorker } from "../../src/people/provider-workers.ts";
import { databases } from "../kit/databases.ts";
import type { Claims } from "./little-provider.ts";
import { Programme } from "./programme.ts";

const roleMapping = { leads: "supervisor", bosses: "admin", staff: "field-worker" };

describe.each(databases)("who is let in, and as what, on $name", (database) => {
  let programme: Programme;

  beforeAll(async () => {
    programme = await Programme.start(database);
    const { node, realm, hosted } = programme;
    await node.addTenant("mapped", realm("mapped", { roleMapping }));
    await node.addTenant("narrow", realm("narrow", { requiredRole: "field" }));
    await node.addTenant("invited", realm("invited", { provision: "invited" }));
    const rolesClaim = "https://example.org/roles";
    await node.addTenant("namespaced", hosted("org_namespaced", { roleMapping, rolesClaim, requiredRole: "staff" }));
  });
  afterAll(() => programme?.close());

  const rolesOf = async (token: string) => (await programme.node.api.me(token)).body.roles;
  const withRoles = (roles: unknown): Claims => ({ realm_access: { roles } });

  test("nobody becomes more than a field worker unless the tenant maps roles", async () => {
    for (const claims of [withRoles(["admin", "supervisor"]), { roles: ["admin"] }, { roles: "admin" }]) {
      expect(await rolesOf((await programme.signIn("north", claims)).body.token)).toEqual(["field-worker"]);
    }
  });

  test("roles are those of the mapping, as the provider gives them at each sign-in", async () => {
    const steps: [unknown, string[]][] = [
      [
        ["leads", "bosses", "unmapped"],
        ["supervisor", "admin"],
      ],
      ["leads staff", ["field-worker", "supervisor"]],
      [["admin", "constructor", "__proto__", 7], ["field-worker"]],
      [undefined, ["field-worker"]],
      [{ leads: true }, ["field-worker"]],
    ];
    for (const [roles, expected] of steps) {
      const { body, text } = await programme.signIn("mapped", withRoles(roles));
      expect(await rolesOf(body.token), `${JSON.stringify(roles)} ${text}`).toEqual(expected);
    }
  });

  test("an access token that tells roles changes them too; one that tells none leaves them", async () => {
    const { token } = (await programme.signIn("mapped", withRoles(["leads"]))).body;
    const silent = await programme.accessToken("mapped", { realm_access: undefined });
    expect(await rolesOf(silent)).toEqual(["supervisor"]);
    expect(await rolesOf(await programme.accessToken("mapped", withRoles(["staff"])))).toEqual(["field-worker"]);
    expect(await rolesOf(token)).toEqual(["field-worker"]);
  });

  test("a required role keeps everyone else out", async () => {
    const out = await programme.signIn("narrow", withRoles(["fields", "Field"]));
    expect([out.status, out.body.code]).toEqual([403, "not_provisioned"]);
    const bearer = await programme.accessToken("narrow", withRoles([]));
    expect((await programme.node.api.checkToken(bearer)).body.code).toBe("invalid_token");
    expect((await programme.signIn("narrow", withRoles(["field"]))).status).toBe(200);
    const without = await programme.signIn("narrow", withRoles([]));
    expect(without.body.code, "also for someone who was let in before").toBe("not_provisioned");
  });

  test("where people are invited, only they are let in", async () => {
    const stranger = await programme.signIn("invited", { sub: "stranger" });
    expect([stranger.status, stranger.body.code]).toEqual([403, "not_provisioned"]);
    const bearer = await programme.accessToken("invited", { sub: "stranger" });
    expect((await programme.node.api.checkToken(bearer)).body.code).toBe("invalid_token");

    const issuer = `${programme.provider.url}/realms/invited`;
    await programme.node.app.services.store.transaction((tx) =>
      addProviderWorker(
        tx,
        { tenantId: "invited", issuer, subject: "guest" },
        { username: "A guest", roles: ["supervisor"] },
      ),
    );
    const guest = await programme.signIn("invited", { sub: "guest", name: "Grace" });
    expect(guest.body.username).toBe("Grace");
    expect(await rolesOf(guest.body.token)).toEqual(["supervisor"]);
  });

  test("a claim whose name is an address works as one", async () => {
    const claims = { org_id: "org_namespaced", iss: programme.provider.url, typ: undefined };
    const signIn = (roles: unknown) =>
      programme.signIn("namespaced", { ...claims, "https://example.org/roles": roles }, { type: "oidc_a" });
    expect((await signIn(["leads"])).body.code).toBe("not_provisioned");
    expect(await rolesOf((await signIn(["staff", "leads"])).body.token)).toEqual(["field-worker", "supervisor"]);
  });
});
