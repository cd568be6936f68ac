import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CommandLine, databaseUrl, newSecret } from "../kit/command-line.ts";
import { databases, type FreshDatabase } from "../kit/databases.ts";

const password = "walnut harbour seventeen";

describe.each(databases)("each mistake has its sentence on $name", ({ fresh }) => {
  let database: FreshDatabase;
  let line: CommandLine;

  beforeAll(async () => {
    database = await fresh();
    line = new CommandLine({
      FIELDGATE_BASE_URL: "https://id.example.org",
      FIELDGATE_SECRET: newSecret(),
      FIELDGATE_DATABASE_URL: databaseUrl(database.config),
    });
    await line.runHere(["tenant", "add", "kenya", "--host", "kenya.example.org"]);
    await line.runHere(["tenant", "add", "uganda"]);
    const added = await line.runHere(["user", "add", "amina", "--tenant", "kenya", "--password-stdin"], {
      input: password,
    });
    expect(added.stderr).toBe("");
  });
  afterAll(async () => {
    line.remove();
    await database.drop();
  });

  const inKenya = ["--tenant", "kenya"];
  it.each<[string, string[], 1 | 2, string, string?]>([
    ["a command that is none", ["usr"], 2, "Did you mean user?"],
    ["a group's command that is none", ["user", "ad"], 2, "Did you mean add?"],
    ["an option that is none", ["tenant", "list", "--jsn"], 2, "Did you mean --json?"],
    ["a missing argument", ["tenant", "show"], 2, "missing required argument 'tenant'"],
    ["a password as an argument", ["user", "add", "x", "hunter2", ...inKenya], 2, "piped in with --password-stdin"],
    ["one for a new password", ["user", "password", "amina", "hunter2"], 2, "Expected 1 argument but got 2."],
    ["a surplus argument elsewhere", ["tenant", "show", "kenya", "hunter2"], 2, "Expected 1 argument but got 2."],
    ["a password as an option", ["user", "add", "x", "--password", "hunter2"], 2, "piped in with --password-stdin"],
    ["one with =", ["user", "password", "amina", "--password=hunter2"], 2, "piped in with --password-stdin"],
    ["one at the start", ["init", "--password=hunter2"], 2, "unknown option '--password'\nA password is no argument"],
    ["help of a command that is none", ["help", "usr"], 2, "unknown command 'usr'. Did you mean user?"],
    ["help of a group's command that is none", ["user", "help", "ad"], 2, "unknown command 'ad'. Did you mean add?"],
    ["no tenant", ["user", "list"], 2, "FIELDGATE_DEFAULT_TENANT"],
    ["an unknown tenant", ["user", "list", "--tenant", "kenia"], 1, 'no tenant "kenia". Did you mean kenya?'],
    ["an unknown user", ["user", "disable", "anima", ...inKenya], 1, "Did you mean amina?"],
    ["an unknown role", ["user", "add", "x", "--role", "admn", ...inKenya], 2, "Did you mean admin?"],
    [
      "a name that is taken",
      ["user", "add", "AMINA", "--password-stdin", ...inKenya],
      1,
      "already has a user",
      password,
    ],
    ["a username of nothing", ["user", "add", " ", "--password-stdin", ...inKenya], 1, "username is empty", password],
    ["a username with an escape", ["user", "add", "a\u001b[0m", "--no-password", ...inKenya], 1, "invisible"],
    ["a short password", ["user", "add", "x", "--password-stdin", ...inKenya], 1, "at least 15", "short"],
    [
      "a derived password",
      ["user", "password", "amina", "--password-stdin", ...inKenya],
      1,
      "built from",
      "amina-kenya-2024!!",
    ],
    [
      "a common password",
      ["user", "add", "x", "--password-stdin", ...inKenya],
      1,
      "many people use",
      "password12345678",
    ],
    ["no password", ["user", "add", "x", "--password-stdin", ...inKenya], 1, "stdin held no password", ""],
    ["no one to ask", ["user", "password", "amina", ...inKenya], 2, "add --password-stdin"],
    ["a tenant id in upper case", ["tenant", "add", "Kenya"], 1, "lower-case letters"],
    ["a tenant that is there", ["tenant", "add", "kenya"], 1, "already a tenant with the id kenya"],
    [
      "a host of another tenant",
      ["tenant", "set", "uganda", "--host", "Kenya.example.org"],
      1,
      "belongs to another tenant",
    ],
    ["a host that is a URL", ["tenant", "set", "uganda", "--host", "https://x.org"], 1, "hosts[0] must be a host name"],
    ["a country that is none", ["tenant", "set", "kenya", "--country", "Kenya"], 1, "two letters"],
    ["an adapter that is none", ["tenant", "set", "kenya", "--adapter", "saml"], 1, "one of oidc_a, oidc_b, otp, id"],
    [
      "an adapter without its fields",
      ["tenant", "set", "kenya", "--adapter", "oidc_a"],
      1,
      "authority and client_id and organization",
    ],
    ["an adapter without =", ["tenant", "set", "kenya", "--adapter", "oidc_a:authority"], 2, '"authority" has no ='],
    [
      "http to a provider",
      ["tenant", "set", "kenya", "--adapter", "oidc_b:authority=http://x.org,client_id=a,realm=b"],
      1,
      "https://",
    ],
    ["an adapter to remove that is none", ["tenant", "set", "kenya", "--remove-adapter", "otp"], 1, 'an adapter "otp"'],
    ["a host to remove that is none", ["tenant", "set", "kenya", "--remove-host", "a.org"], 1, 'the host "a.org"'],
    [
      "an unknown policy",
      ["tenant", "set", "kenya", "--policy", "password.length=20"],
      1,
      "policy.password.length is not known",
    ],
    ["a policy out of bounds", ["tenant", "set", "kenya", "--policy", "password.minLength=8"], 1, "from 15 to 64"],
    ["a policy without =", ["tenant", "set", "kenya", "--policy", "password.minLength"], 2, "password.minLength=20"],
    ["nothing to set", ["tenant", "set", "kenya"], 2, "Nothing to change"],
    ["both states", ["tenant", "set", "kenya", "--enable", "--disable"], 2, "one of --disable and --enable"],
    ["a settings file that is none", ["tenant", "set", "kenya", "--settings", "no.json"], 1, "ENOENT"],
    ["settings that are no JSON", ["tenant", "set", "kenya", "--settings", "-"], 1, "cannot be used", "{"],
    ["settings and more", ["tenant", "set", "kenya", "--settings", "-", "--country", "KE"], 2, "holds everything"],
    ["nothing said to end", ["sessions", "end", ...inKenya], 2, "one of --session ID, --user USERNAME and --all"],
    ["two things to end", ["sessions", "end", "--all", "--user", "amina", ...inKenya], 2, "one of --session ID"],
    ["a session that is none", ["sessions", "end", "--session", "nope", ...inKenya], 1, 'no session "nope"'],
    ["ending without a yes", ["sessions", "end", "--all", ...inKenya], 2, "add --yes"],
    ["disabling without a yes", ["tenant", "set", "kenya", "--disable"], 2, "add --yes"],
    ["a purpose that is none", ["keys", "rotate", "--purpose", "device"], 2, "access, refresh, journal"],
    ["a lead that is too short", ["keys", "rotate", "--lead", "1"], 2, "5 to 86400 seconds"],
    ["a lead that is no number", ["keys", "rotate", "--lead", "soon"], 2, '"soon"'],
    ["no new secret", ["secret", "rotate"], 2, "--generate FILE"],
    ["two new secrets", ["secret", "rotate", "--generate", "a", "--new-secret-stdin"], 2, "Choose one"],
    ["a secret file that is none", ["secret", "rotate", "--new-secret-file", "none"], 1, "ENOENT"],
    ["a short new secret", ["secret", "rotate", "--new-secret-stdin"], 1, "needs at least 32", "AbCdEfGh"],
    ["a configuration file that is none", ["tenant", "list", "--config", "none.env"], 2, "There is no file"],
    [
      "a mail password as an option",
      ["init", "--tenant", "x", "--admin", "x", "--smtp-url", "smtp://u:hunter2@a.org", "--out", "n.env"],
      2,
      "seen by everyone who lists processes",
    ],
    [
      "two ways to send",
      ["init", "--tenant", "x", "--admin", "x", "--smtp-url", "smtp://a", "--delivery-file", "b", "--out", "n.env"],
      2,
      "Choose one",
    ],
    ["init without answers", ["init", "--base-url", "https://a.org", "--out", "n.env"], 2, "--tenant, --admin"],
  ])("%s", async (_, args, code, sentence, input) => {
    const outcome = await line.runHere(args, input === undefined ? {} : { input });
    expect(outcome.stderr).toContain(sentence);
    expect(outcome).toMatchObject({ code, stdout: "" });
    expect(outcome.stderr).not.toContain("    at ");
    expect(outcome.stderr).not.toContain("hunter2");
    expect(outcome.stderr).not.toContain("--no-password");
    if (input && args.includes("--password-stdin")) expect(outcome.stderr).not.toContain(input);
  });

  it("nothing of it changed anything", async () => {
    const tenants = JSON.parse((await line.runHere(["tenant", "list", "--json"])).stdout) as { version: number }[];
    expect(tenants.map(({ version }) => version)).toEqual([1, 1]);
    const users = JSON.parse((await line.runHere(["user", "list", "--json", ...inKenya])).stdout) as object[];
    expect(users).toHaveLength(1);
  });
});

describe("a deployment that is not there has its sentence", () => {
  let line: CommandLine;
  beforeAll(() => {
    line = new CommandLine();
  });
  afterAll(() => line.remove());

  const env = { FIELDGATE_BASE_URL: "https://id.example.org", FIELDGATE_SECRET: newSecret() };

  it("all bad variables at once, and exit code 2, from the real program", async () => {
    const outcome = await line.run(["serve"], { env: { FIELDGATE_SECRET: "changeme", FIELDGATE_BASEURL: "x" } });
    expect(outcome).toMatchObject({ code: 2, stdout: "" });
    for (const told of [
      "FIELDGATE_BASE_URL: is missing",
      "(`npm start`) add --dev",
      "placeholder",
      "FIELDGATE_BASEURL: is not known. Did you mean",
    ]) {
      expect(outcome.stderr).toContain(told);
    }
    expect(outcome.stderr).not.toContain("changeme");
  });

  it("no database file, and none is made", async () => {
    const outcome = await line.runHere(["tenant", "list"], { env });
    expect(outcome).toMatchObject({ code: 1, stderr: expect.stringContaining("There is no database at") });
    expect(await line.runHere(["tenant", "list", "--dev"])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("npm start"),
    });
    expect(await line.runHere(["doctor"], { env })).toMatchObject({ code: 1 });
    expect(await line.runHere(["tenant", "list"], { env })).toEqual(outcome);
  });

  it("a file that is no database", async () => {
    const file = join(line.cwd, "letter.db");
    writeFileSync(file, "Dear reader, this is not a database at all. ".repeat(100));
    const outcome = await line.runHere(["tenant", "list"], {
      env: { ...env, FIELDGATE_DATABASE_URL: `sqlite:${file}` },
    });
    expect(outcome).toMatchObject({ code: 1, stderr: expect.stringContaining("The database cannot be used") });
  });

  it("a PostgreSQL server that does not answer, without its password", async () => {
    const url = "postgres://fieldgate:hunter2@127.0.0.1:1/fieldgate";
    const outcome = await line.runHere(["tenant", "list"], { env: { ...env, FIELDGATE_DATABASE_URL: url } });
    expect(outcome).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("ECONNREFUSED") });
    expect(outcome.stderr).not.toContain("hunter2");
  });

  it.each(databases)("an empty database on $name", async ({ fresh }) => {
    const database = await fresh({ empty: true });
    const url = databaseUrl(database.config);
    if (database.config.kind === "sqlite") writeFileSync(database.config.file, "");
    const outcome = await line.runHere(["tenant", "list"], { env: { ...env, FIELDGATE_DATABASE_URL: url } });
    expect(outcome).toMatchObject({ code: 1, stderr: expect.stringContaining("has no tables yet") });
    await database.drop();
  });
});

describe("help helps", () => {
  const commands = [
    ...["init", "serve", "doctor", "tenant add", "tenant list", "tenant show", "tenant set"],
    ...["user add", "user list", "user password", "user disable", "user enable", "user unlock"],
    ...["sessions list", "sessions end", "keys list", "keys rotate", "secret rotate"],
    ...["journal verify", "journal export", "backup", "restore"],
  ];
  const line = new CommandLine();
  afterAll(() => line.remove());

  it.each(commands)("%s --help shows options and examples", async (command) => {
    const outcome = await line.runHere([...command.split(" "), "--help"]);
    expect(outcome).toMatchObject({ code: 0, stderr: "" });
    for (const part of [
      `Usage: fieldgate ${command}`,
      "--json",
      "--config",
      "Examples:",
      `$ `,
      `fieldgate ${command}`,
    ]) {
      expect(outcome.stdout).toContain(part);
    }
  });

  it("the program's own lists every command", async () => {
    const { code, stdout } = await line.runHere(["--help"]);
    expect(code).toBe(0);
    for (const command of commands) expect(stdout).toContain(`  ${command.split(" ")[0]} `);
    expect((await line.runHere(["--version"])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});
