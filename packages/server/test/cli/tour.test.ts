import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type MailServer, startMailServer } from "../delivery/mail-server.ts";
import { CommandLine, databaseUrl } from "../kit/command-line.ts";
import { databases, type FreshDatabase } from "../kit/databases.ts";

const password = "walnut harbour seventeen";
const other = "copper bridge nineteen lamps";

/** One deployment from its first command to its last: each step builds on those before. */
describe.each(databases)("a deployment's life on $name", ({ name, fresh }) => {
  let database: FreshDatabase;
  let line: CommandLine;
  let mail: MailServer;

  beforeAll(async () => {
    database = await fresh({ empty: true });
    mail = await startMailServer();
    line = new CommandLine();
  });
  afterAll(async () => {
    await mail.stop();
    line.remove();
    await database.drop();
  });

  it("init writes the configuration, the tenant and the admin", async () => {
    const args = ["init", "--base-url", "https://id.example.org", "--tenant", "kenya", "--tenant-name", "Kenya Cash"];
    const where = ["--database-url", databaseUrl(database.config), "--smtp-url", `smtp://127.0.0.1:${mail.port}`];
    const made = await line.json([...args, "--admin", "Amina", ...where, "--password-stdin"], {
      input: `${password}\n`,
    });
    const file = join(line.cwd, "fieldgate.env");
    expect(made).toEqual({ file, baseUrl: "https://id.example.org", database: name, tenant: "kenya", admin: "Amina" });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, "utf8")).not.toContain(password);
  });

  it("init leaves a configuration and a database that are there alone", async () => {
    const before = readFileSync(join(line.cwd, "fieldgate.env"), "utf8");
    const flags = ["--tenant", "x", "--admin", "x", "--password-stdin", "--delivery-later"];
    const again = ["init", "--base-url", "https://x.example.org", ...flags];
    expect(await line.runHere(again, { input: password })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("exists already"),
    });
    const elsewhere = [...again, "--out", "other.env", "--database-url", databaseUrl(database.config)];
    expect(await line.runHere(elsewhere, { input: password })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("holds a deployment already"),
    });
    expect(readFileSync(join(line.cwd, "fieldgate.env"), "utf8")).toBe(before);
    expect(() => statSync(join(line.cwd, "other.env"))).toThrow("ENOENT");
  });

  it("doctor finds it well", async () => {
    const { ok, findings } = await line.json<{ ok: boolean; findings: { check: string; state: string }[] }>(["doctor"]);
    expect(ok).toBe(true);
    const bySubject = Object.fromEntries(findings.map(({ check, state }) => [check, state]));
    expect(bySubject).toMatchObject({ configuration: "ok", database: "ok", clock: "ok", keys: "ok", tenant: "ok" });
    expect(await line.runHere(["doctor"])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("ok    database"),
    });
  });

  it("tenant add, list, show and set", async () => {
    const added = await line.json(["tenant", "add", "uganda", "--country", "ug", "--adapter", "otp"]);
    expect(added).toMatchObject({
      id: "uganda",
      version: 1,
      settings: { defaultCountry: "UG", adapters: [{ type: "otp", fields: { serverUrl: "https://id.example.org" } }] },
    });

    const bare = await line.runHere(["tenant", "add", "malawi"]);
    expect(bare.stdout).toContain("fieldgate tenant set malawi --adapter otp --adapter id");

    const oidc = "keycloak:authority=https://sso.example.org,client_id=field,realm=uganda";
    const policy = ["--policy", "password.minLength=20", "--policy", "sessions.allowPlain=false"];
    const host = ["--host", "ID.Uganda.example.org"];
    const set = await line.json(["tenant", "set", "uganda", "--adapter", oidc, ...host, ...policy]);
    expect(set).toMatchObject({
      version: 2,
      settings: {
        adapters: [{ type: "otp" }, { type: "oidc_b", fields: { realm: "uganda" } }],
        hosts: ["id.uganda.example.org"],
        policy: { password: { minLength: 20 }, sessions: { allowPlain: false } },
      },
    });
    const back = ["--policy", "password.minLength=default", "--remove-adapter", "otp", "--name", "Uganda Cash"];
    expect(await line.jsonHere(["tenant", "set", "uganda", ...back])).toMatchObject({
      name: "Uganda Cash",
      settings: { adapters: [{ type: "oidc_b" }], policy: { sessions: { allowPlain: false } } },
    });
    expect(await line.jsonHere(["tenant", "set", "uganda", "--disable", "--yes"])).toMatchObject({ disabled: true });
    expect(await line.jsonHere(["tenant", "set", "uganda", "--enable"])).toMatchObject({ disabled: false });

    const list = await line.run(["tenant", "list"]);
    expect(list.stdout).toMatch(/^TENANT {2}NAME {9}STATE/m);
    expect(list.stdout).toMatch(/^uganda {2}Uganda Cash {2}enabled {2}oidc_b {4}id\.uganda\.example\.org$/m);
    const shown = await line.run(["tenant", "show", "uganda"]);
    expect(shown.stdout).toContain("oidc_b: authority=https://sso.example.org");
    const clash = await line.runHere(["tenant", "set", "kenya", "--host", "id.uganda.example.org"]);
    expect(clash).toMatchObject({ code: 1, stderr: expect.stringContaining("belongs to another tenant") });
    // Nobody answers at that provider, and the doctor would ask.
    await line.jsonHere(["tenant", "set", "uganda", "--remove-adapter", "oidc_b"]);
  });

  it("tenant set reads all settings from a file", async () => {
    const settings = { adapters: [], hosts: ["kenya.example.org"], defaultCountry: "KE", policy: {} };
    writeFileSync(join(line.cwd, "kenya.json"), JSON.stringify(settings));
    expect(await line.jsonHere(["tenant", "set", "kenya", "--settings", "kenya.json"])).toMatchObject({ settings });
    const piped = await line.jsonHere(["tenant", "set", "kenya", "--settings", "-"], {
      input: '{"defaultCountry":"TZ","retention":{"disabledAfterDays":400}}',
    });
    expect(piped).toMatchObject({ settings: { defaultCountry: "TZ", hosts: [] } });
    const shown = await line.runHere(["tenant", "show", "kenya"]);
    expect(shown.stdout).toContain('retention  {"disabledAfterDays":400}');
  });

  it("user add, list, password, disable, enable and unlock", async () => {
    const added = await line.json(["user", "add", "Otieno", "--role", "supervisor", "--password-stdin"], {
      input: password,
    });
    expect(added).toMatchObject({ tenantId: "kenya", username: "Otieno", roles: ["supervisor"], hasPassword: true });
    expect(JSON.stringify(added)).not.toContain("argon2");
    await line.jsonHere(["user", "add", "sso-only", "--no-password", "--tenant", "uganda"]);
    const twin = await line.runHere(["user", "add", "OTIENO ", "--password-stdin"], { input: password });
    expect(twin).toMatchObject({ code: 1, stderr: expect.stringContaining("already has a user") });

    const changed = await line.json(["user", "password", "otieno", "--password-stdin"], { input: `${other}\r\n` });
    expect(changed).toMatchObject({ username: "Otieno" });
    expect(await line.json(["user", "disable", "otieno"])).toMatchObject({ disabled: true, changed: true });
    expect(await line.jsonHere(["user", "disable", "otieno"])).toMatchObject({ disabled: true, changed: false });
    expect(await line.json(["user", "enable", "otieno"])).toMatchObject({ disabled: false, changed: true });
    expect(await line.json(["user", "unlock", "otieno"])).toMatchObject({ cleared: 0 });

    const users = await line.json<{ username: string }[]>(["user", "list"]);
    expect(users.map(({ username }) => username)).toEqual(["Amina", "Otieno"]);
    const list = await line.runHere(["user", "list", "--tenant", "uganda"]);
    expect(list.stdout).toMatch(/^sso-only {2}field-worker {2}enabled {2}no /m);
  });

  it("sessions list and end", async () => {
    expect(await line.json(["sessions", "list"])).toEqual([]);
    expect(await line.json(["sessions", "end", "--user", "amina", "--yes"])).toEqual({ ended: [] });
    expect(await line.jsonHere(["sessions", "end", "--all", "--yes"])).toEqual({ ended: [] });
  });

  it("keys list and rotate", async () => {
    const next = await line.json(["keys", "rotate", "--lead", "60"]);
    expect(next).toMatchObject({ purpose: "access", alg: "ES256", state: "next" });
    const keys = await line.json<{ id: string; purpose: string; state: string; retiresAt: string | null }[]>([
      "keys",
      "list",
    ]);
    const access = keys.filter(({ purpose }) => purpose === "access");
    expect(access.map(({ state }) => state)).toEqual(["active", "next"]);
    expect(access[0]?.retiresAt).toBe((next as { activeFrom: string }).activeFrom);
    expect(keys.map(({ purpose }) => purpose)).toContain("journal");
    expect(await line.jsonHere(["keys", "rotate", "--purpose", "journal"])).toMatchObject({ alg: "EdDSA" });
  });

  it("secret rotate wraps every key, and the old secret opens nothing more", async () => {
    const env = readFileSync(join(line.cwd, "fieldgate.env"), "utf8");
    const old = /^FIELDGATE_SECRET='(.*)'$/m.exec(env)?.[1] ?? "";
    const rotated = await line.run(["secret", "rotate", "--generate", "new-secret"]);
    expect(rotated).toMatchObject({ code: 0, stdout: expect.stringContaining("FIELDGATE_SECRET_PREVIOUS") });
    const file = join(line.cwd, "new-secret");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const secret = readFileSync(file, "utf8").trim();
    expect(rotated.stdout + rotated.stderr).not.toContain(secret);
    expect(rotated.stdout + rotated.stderr).not.toContain(old);

    const stale = await line.runHere(["doctor"]);
    expect(stale).toMatchObject({ code: 1, stdout: expect.stringContaining("sealed under another secret") });
    expect(await line.runHere(["keys", "rotate"])).toMatchObject({ code: 1 });

    const both = { FIELDGATE_SECRET: secret, FIELDGATE_SECRET_PREVIOUS: old };
    expect(await line.runHere(["doctor"], { env: both })).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("FIELDGATE_SECRET_PREVIOUS is set"),
    });
    writeFileSync(join(line.cwd, "fieldgate.env"), env.replace(old, secret));
    expect(await line.jsonHere(["user", "unlock", "amina"])).toMatchObject({ cleared: 0 });
    const same = await line.runHere(["secret", "rotate", "--new-secret-file", "new-secret"]);
    expect(same).toMatchObject({ code: 1, stderr: expect.stringContaining("is the one in use") });
    const pattern = await line.runHere(["secret", "rotate", "--new-secret-stdin"], { input: "changeme" });
    expect(pattern).toMatchObject({ code: 1, stderr: expect.stringContaining("placeholder") });
  });
});
