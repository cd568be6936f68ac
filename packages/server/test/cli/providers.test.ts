import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CommandLine, databaseUrl, newSecret } from "../kit/command-line.ts";
import { databases, type FreshDatabase } from "../kit/databases.ts";

const oidcB = "oidc_b:authority=https://sso.example.org,client_id=field,realm=kenya";

describe.each(databases)("identity providers on the command line, on $name", ({ fresh }) => {
  let database: FreshDatabase;
  let line: CommandLine;

  beforeAll(async () => {
    database = await fresh({ empty: true });
    line = new CommandLine({ FIELDGATE_SECRET: newSecret(), FIELDGATE_TRUSTED_PROXIES: "127.0.0.1" });
    const where = ["--database-url", databaseUrl(database.config), "--smtp-url", "smtp://127.0.0.1:1"];
    const init = ["init", "--base-url", "https://id.example.org", "--tenant", "kenya", "--admin", "amina"];
    const made = await line.runHere([...init, "--password-stdin", ...where], { input: "walnut harbour seventeen" });
    expect(made).toMatchObject({ code: 0, stderr: "" });
    await line.jsonHere(["tenant", "set", "kenya", "--adapter", oidcB]);
    await line.jsonHere(["tenant", "add", "uganda"]);
  });
  afterAll(async () => {
    line.remove();
    await database.drop();
  });

  async function refusal(args: readonly string[], input = ""): Promise<string> {
    const { code, stderr, stdout } = await line.runHere(args, { input });
    expect(code, stdout).not.toBe(0);
    return stderr;
  }

  it("settings of the server alone are set, shown, taken away, and go with their adapter", async () => {
    const set = (...options: string[]) =>
      line.jsonHere<{ settings: Record<string, unknown> }>(["tenant", "set", "kenya", ...options]);
    const spec = "keycloak:provision=invited,requiredRole=field,role.team leads=supervisor,role.bosses=admin";
    expect((await set("--provider", spec)).settings.identityProviders).toEqual({
      oidc_b: {
        provision: "invited",
        requiredRole: "field",
        roleMapping: { "team leads": "supervisor", bosses: "admin" },
      },
    });
    expect((await line.runHere(["tenant", "show", "kenya"])).stdout).toContain('"provision":"invited"');
    const claim = "oidc_b:rolesClaim=https://example.org/roles,role.bosses=default,requiredRole=default";
    expect((await set("--provider", claim)).settings.identityProviders).toEqual({
      oidc_b: {
        provision: "invited",
        rolesClaim: "https://example.org/roles",
        roleMapping: { "team leads": "supervisor" },
      },
    });
    expect((await set("--remove-adapter", "oidc_b")).settings).not.toHaveProperty("identityProviders");
    await set("--adapter", oidcB);
  });

  it("mistakes are told by their names", async () => {
    const set = (spec: string) => refusal(["tenant", "set", "kenya", "--provider", spec]);
    expect(await set("oidc_b:provision=sometimes")).toContain("provision must be first-sight or invited");
    expect(await set("oidc_b:role.leads=boss")).toContain("roleMapping.leads must be one of field-worker");
    expect(await set("oidc_b:client_secret=x")).toContain("tenant secret");
    expect(await set("oidc_a:provision=invited")).toContain("the tenant has no adapter oidc_a");
    expect(await set("okta:provision=invited")).toContain("it has oidc_a and oidc_b");
    expect(await set("oidc_b")).toContain("--provider must look like");
    const settings = join(line.cwd, "settings.json");
    const fields = { authority: "https://x.example", client_id: "a", organization: "o", audience: "a" };
    writeFileSync(settings, JSON.stringify({ adapters: [{ type: "oidc_a", fields }] }));
    const sentence = await refusal(["tenant", "set", "uganda", "--settings", settings]);
    expect(sentence).toContain("an ID token would pass for an access token");
  });

  it("a client belongs to one tenant", async () => {
    const set = (spec: string) => ["tenant", "set", "uganda", "--adapter", spec];
    for (const spec of [oidcB, oidcB.replace("example.org", "example.org/"), oidcB.replace("oidc_b", "keycloak")]) {
      expect(await refusal(set(spec))).toContain("already belongs to a provider, perhaps of another tenant");
    }
    // The same issuer and client, asked as a hosted provider: every token of it is the realm's already.
    const asHosted = "oidc_a:authority=https://sso.example.org/realms/kenya,client_id=field,organization=o";
    expect(await refusal(set(asHosted))).toContain("already belongs");
    const organization = (id: string) => `oidc_a:authority=https://login.example.org,client_id=app,organization=${id}`;
    await line.jsonHere(["tenant", "set", "kenya", "--adapter", organization("org_k")]);
    await line.jsonHere(set(organization("org_u")));
    expect(await refusal(set(organization("org_k")))).toContain("and the organization org_k");
    await line.jsonHere(["tenant", "set", "kenya", "--remove-adapter", "oidc_a"]);
  });

  it("people are invited by their subject, and found again by name or id", async () => {
    const invite = ["user", "invite", "auth0|7", "--tenant", "kenya", "--name", "Grace", "--role", "supervisor"];
    const grace = await line.jsonHere<{ id: string }>(invite);
    expect(grace).toMatchObject({
      ...{ username: "Grace", roles: ["supervisor"], hasPassword: false },
      ...{ issuer: "https://sso.example.org/realms/kenya", subject: "auth0|7" },
    });
    expect(await refusal(invite)).toContain("Grace is a user of kenya already");
    expect(await refusal(["user", "invite", "x", "--tenant", "uganda", "--provider", "oidc_b"])).toContain(
      "--provider oidc_a",
    );
    expect(await line.jsonHere(["user", "disable", "grace", "--tenant", "kenya"])).toMatchObject({ disabled: true });
    await line.jsonHere(["user", "invite", "auth0|8", "--tenant", "kenya", "--name", "Grace"]);
    expect(await refusal(["user", "enable", "grace", "--tenant", "kenya"])).toContain(`Give the id of one: `);
    expect(await line.jsonHere(["user", "enable", grace.id, "--tenant", "kenya"])).toMatchObject({ id: grace.id });
  });

  it("a client secret is set, shown nowhere, wrapped anew with the rest, and forgotten with its client", async () => {
    const secret = ["tenant", "secret", "kenya", "--secret-stdin"];
    expect(await line.jsonHere(secret, { input: "hush-hush\n" })).toMatchObject({
      provider: "oidc_b",
      hasSecret: true,
    });
    expect((await line.runHere(["tenant", "show", "kenya", "--json"])).stdout).not.toContain("hush");
    const rotated = await line.runHere(["secret", "rotate", "--generate", "new-secret"]);
    expect(rotated.code, rotated.stderr).toBe(0);
    expect(await refusal(["tenant", "secret", "uganda", "--provider", "oidc_b", "--remove"])).toContain(
      "--provider oidc_a",
    );
    expect(await refusal(secret, " ")).toContain("1 to 1,024 characters");
  });

  it("doctor asks each provider as the service would", async () => {
    const env = { FIELDGATE_SECRET_FILE: join(line.cwd, "new-secret"), FIELDGATE_SECRET: "" };
    await line.jsonHere(["tenant", "set", "uganda", "--remove-adapter", "oidc_a"], { env });
    const inside = "oidc_b:authority=https://127.0.0.1:9,client_id=field,realm=kenya";
    await line.jsonHere(["tenant", "set", "kenya", "--adapter", inside], { env });
    const examine = async (more: Record<string, string> = {}) => {
      const { stdout } = await line.runHere(["doctor", "--json"], { env: { ...env, ...more } });
      const { findings } = JSON.parse(stdout) as { findings: { check: string; state: string; sentence: string }[] };
      return findings.filter(({ check }) => check === "providers");
    };
    expect(await examine()).toMatchObject([{ state: "bad", sentence: expect.stringContaining("address_refused") }]);
    expect(await examine({ FIELDGATE_INTERNAL_HOSTS: "127.0.0.1" })).toMatchObject([
      { state: "warn", sentence: expect.stringContaining("unreachable") },
    ]);
    const told = await line.runHere(["doctor"], { env: { ...env, FIELDGATE_INTERNAL_HOSTS: "https://x" } });
    expect(told.stdout).toContain('FIELDGATE_INTERNAL_HOSTS has "https://x"');
  });
});
