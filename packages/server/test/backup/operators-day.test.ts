import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Session } from "@fieldgate/contract";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { openStore } from "../../src/store/open-store.ts";
import { CommandLine, databaseUrl } from "../kit/command-line.ts";
import { databases, type FreshDatabase } from "../kit/databases.ts";
import { type Served, serve } from "../kit/served.ts";

const password = "walnut harbour seventeen";
const headers = { "x-forwarded-proto": "https", "content-type": "application/json" };

async function post(url: string, path: string, body: object) {
  const response = await fetch(`${url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  return { status: response.status, body: (await response.json()) as Session };
}
const login = (url: string) => post(url, "/api/users/login", { username: "amina", password });

interface Verified {
  readonly ok: boolean;
  readonly events: number;
  readonly findings: { kind: string; tenantId: string; seq: number }[];
}

/** The journal and the backup as an operator meets them: the real program beside a real service. */
describe.each(databases)("an operator's day on $name", ({ name, fresh }) => {
  let database: FreshDatabase;
  let line: CommandLine;
  let served: Served;
  let session: Session;
  /** Began after the backup, so that the restored database has never heard of it. */
  let later: Session;
  let headFile: string;

  beforeAll(async () => {
    database = await fresh({ empty: true });
    line = new CommandLine({ FIELDGATE_TRUSTED_PROXIES: "127.0.0.1", FIELDGATE_PORT: "0" });
    headFile = join(line.cwd, ".fieldgate", "journal", "checkpoints.ndjson");
    const flags = ["--base-url", "https://id.example.org", "--tenant", "kenya", "--admin", "amina", "--password-stdin"];
    await line.json(
      ["init", ...flags, "--smtp-url", "smtp://127.0.0.1:2525", "--database-url", databaseUrl(database.config)],
      { input: password },
    );
    served = await serve(line);
    session = (await login(served.url)).body;
  });
  afterAll(async () => {
    await served?.stop();
    line.remove();
    await database.drop();
  });

  const change = async (work: (db: Awaited<ReturnType<typeof openStore>>["db"]) => Promise<unknown>) => {
    const store = await openStore(database.config, systemClock);
    await work(store.db);
    await store.close();
  };

  it("an event is sealed within a second or two, and the journal verifies beside the service", async () => {
    const verify = () => line.jsonHere<Verified>(["journal", "verify", "--tenant", "kenya"]);
    // tenant.added, worker.added, login.succeeded
    await expect.poll(async () => (await verify()).events, { timeout: 5000, interval: 200 }).toBeGreaterThanOrEqual(3);
    expect(await line.run(["journal", "verify"])).toMatchObject({
      code: 0,
      stderr: "",
      stdout: expect.stringMatching(/checked {6}Every event[\s\S]*The journal is whole/),
    });
  });

  it("exports it; the export verifies where there is neither configuration nor database", async () => {
    const file = join(line.cwd, "kenya.ndjson");
    const made = await line.json(["journal", "export", "--tenant", "kenya", "--output", "kenya.ndjson"]);
    expect(made).toMatchObject({ file, verifiable: true });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const auditor = new CommandLine();
    copyFileSync(file, join(auditor.cwd, "kenya.ndjson"));
    expect(await auditor.json(["journal", "verify", "--export", "kenya.ndjson"])).toMatchObject({
      ok: true,
      tenants: 1,
    });
    const text = readFileSync(file, "utf8").replace('"login.succeeded"', '"login.succeedeD"');
    writeFileSync(join(auditor.cwd, "kenya.ndjson"), text);
    expect(await auditor.run(["journal", "verify", "--export", "kenya.ndjson"])).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/error +kenya +\d+ +Event \d+ is not what was sealed/),
    });
    auditor.remove();

    const { code, stdout, stderr } = await line.run(["journal", "export", "--type", "login.succeeded"]);
    expect(code).toBe(0);
    expect(stderr).toContain("cannot be verified");
    const types = stdout
      .trimEnd()
      .split("\n")
      .map((each) => JSON.parse(each).type);
    expect(types.filter((type) => type !== undefined)).toEqual(["login.succeeded"]);
  });

  it("takes a backup beside the service, and proves the file", async () => {
    const made = await line.json<{ file: string; rows: Record<string, number> }>(["backup", "day.gz"]);
    expect(made).toMatchObject({ file: join(line.cwd, "day.gz"), rows: { tenants: 1, workers: 1, sessions: 1 } });
    expect(statSync(made.file).mode & 0o777).toBe(0o600);
    expect(await line.run(["restore", "day.gz", "--check"])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("The backup is whole"),
    });
    later = (await login(served.url)).body;
    expect(later.token).toBeTypeOf("string");
  });

  it("does not restore under a running service, nor over a database that is in use, nor without a yes", async () => {
    expect(await line.runHere(["restore", "day.gz", "--replace", "--yes"])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("A server is using this database"),
    });
    expect(await served.stop()).toBe(0);
    expect(await line.runHere(["restore", "day.gz"])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/not empty.*1 in tenants.*--replace/),
    });
    expect(await line.runHere(["restore", "day.gz", "--replace"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--yes"),
    });
  });

  it("after a good stop every event is signed, here and in the file outside", async () => {
    expect(await line.jsonHere<Verified>(["journal", "verify", "--head", headFile])).toMatchObject({
      ok: true,
      warnings: 0,
      findings: [],
    });
  });

  it("finds a changed byte, a removed checkpoint and a cut tail", async () => {
    const verify = async (...args: string[]) => {
      const { code, stdout } = await line.runHere(["journal", "verify", "--json", ...args]);
      return { code, kinds: (JSON.parse(stdout) as Verified).findings.map((finding) => finding.kind) };
    };
    const typed = (from: string, to: string) =>
      change((db) => db.updateTable("journal_events").set({ type: to }).where("type", "=", from).execute());
    await typed("worker.added", "worker.addeD");
    expect(await verify()).toEqual({ code: 1, kinds: ["changed"] });
    await typed("worker.addeD", "worker.added");
    expect(await verify()).toEqual({ code: 0, kinds: [] });

    const kept = join(line.cwd, "kept.ndjson");
    copyFileSync(headFile, kept);
    rmSync(headFile);
    expect(await line.runHere(["journal", "verify"])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/not checked[\s\S]*--head[\s\S]*whole as far as the database itself can tell: /),
    });
    copyFileSync(kept, headFile);
    await change(async (db) => {
      const ofKenya = (place: number) =>
        db.deleteFrom("journal_events").where("tenant_id", "=", "kenya").where("seq", ">", place).execute();
      await ofKenya(2);
      const last = await db
        .selectFrom("journal_events")
        .select("hash")
        .where("tenant_id", "=", "kenya")
        .where("seq", "=", 2)
        .executeTakeFirstOrThrow();
      await db
        .updateTable("journal_heads")
        .set({ seq: 2, hash: last.hash ?? "" })
        .where("tenant_id", "=", "kenya")
        .execute();
      await db.deleteFrom("journal_checkpoints").where("tenant_id", "=", "kenya").execute();
    });
    expect((await verify()).kinds).toContain("cut");
    expect((await line.runHere(["journal", "verify"])).stdout).toContain(`checkpoints  ${headFile}`);
    rmSync(headFile);
    expect(await verify()).toEqual({ code: 1, kinds: ["checkpoint_removed"] });
    copyFileSync(kept, headFile);
    expect((await verify("--head", kept)).kinds).toContain("cut");
  });

  it("restores the backup: the day's sessions are over, people sign in again, the journal tells of it", async () => {
    const restored = await line.run(["restore", "day.gz", "--replace", "--yes"]);
    expect(restored).toMatchObject({ code: 0, stdout: expect.stringContaining("1 session was ended") });
    const aside = readdirSync(join(line.cwd, ".fieldgate", "journal")).filter((file) =>
      file.includes("before-restore"),
    );
    expect(aside).toHaveLength(1);
    expect(existsSync(headFile)).toBe(true);
    expect(await line.jsonHere<Verified>(["journal", "verify", "--head", headFile])).toMatchObject({
      ok: true,
      findings: [],
    });

    served = await serve(line);
    for (const { refreshToken, token } of [session, later]) {
      expect((await post(served.url, "/api/users/refresh", { refreshToken })).status).toBe(401);
      const bearer = { ...headers, authorization: `Bearer ${token}` };
      expect((await fetch(`${served.url}/api/users/check-token`, { headers: bearer })).status).toBe(401);
    }
    expect((await login(served.url)).status).toBe(200);
    const { stdout } = await line.run(["journal", "export", "--type", "database.restored"]);
    expect(stdout.match(/"database.restored"/g)).toHaveLength(3);
  });

  it("moves to the other kind of database by the same file", async () => {
    const other = databases.find((each) => each.name !== name);
    if (!other) throw new Error("There are two kinds.");
    const target = await other.fresh({ empty: true });
    const env = { FIELDGATE_DATABASE_URL: databaseUrl(target.config), FIELDGATE_DATA_DIR: join(line.cwd, "other") };
    const { code, stderr } = await line.runHere(["restore", "day.gz", "--keep-sessions"], { env });
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining("warning: sessions that were ended") });
    const moved = await serve(line, [], env);
    expect((await post(moved.url, "/api/users/refresh", { refreshToken: session.refreshToken })).status).toBe(200);
    expect((await login(moved.url)).status).toBe(200);
    expect(await line.jsonHere<Verified>(["journal", "verify"], { env })).toMatchObject({ ok: true });
    expect(await moved.stop()).toBe(0);
    await target.drop();
  });
});

describe("mistakes with journal, backup and restore", () => {
  let line: CommandLine;
  beforeAll(async () => {
    line = new CommandLine();
    const flags = ["--base-url", "https://id.example.org", "--tenant", "kenya", "--admin", "amina", "--password-stdin"];
    await line.jsonHere(["init", ...flags, "--smtp-url", "smtp://127.0.0.1:2525"], { input: password });
    writeFileSync(join(line.cwd, "text.txt"), "hello\n");
  });
  afterAll(() => line.remove());

  it.each([
    ["journal verify --head none.ndjson", 2, "There is no file"],
    ["journal verify --head .", 2, "is not a file"],
    ["journal verify --head text.txt", 1, "There is no checkpoint in"],
    ["journal verify --public-key text.txt", 2, "holds no Ed25519 public key"],
    ["journal verify --export text.txt", 1, "is not a journal export"],
    ["journal verify --export text.txt --tenant kenya", 2, "does not go with --export"],
    ["journal verify --tenant uganda", 1, 'no journal of a tenant "uganda"'],
    ["journal export --from yesterday", 2, 'got "yesterday"'],
    ["journal export --to 2026-13-01", 2, 'got "2026-13-01"'],
    ["journal export --output text.txt", 2, "There is already a file"],
    ["journal export --output none/x", 2, "There is no folder"],
    ["backup text.txt", 2, "There is already a file"],
    ["restore", 2, "missing required argument"],
    ["restore none.gz", 2, "There is no file"],
    ["restore text.txt", 1, "is not a Fieldgate backup"],
  ])("%s", async (command, code, sentence) => {
    const outcome = await line.runHere(command.split(" "));
    expect({ code: outcome.code, told: outcome.stderr + outcome.stdout }).toEqual({
      code,
      told: expect.stringContaining(sentence),
    });
    expect(outcome.stderr).not.toContain("report this");
  });

  it("a backup of another deployment is told apart from a broken one", async () => {
    await line.jsonHere(["backup", "own.gz"]);
    const other = new CommandLine();
    const flags = ["--base-url", "https://id.example.org", "--tenant", "kenya", "--admin", "amina", "--password-stdin"];
    await other.jsonHere(["init", ...flags, "--smtp-url", "smtp://127.0.0.1:2525"], { input: password });
    copyFileSync(join(line.cwd, "own.gz"), join(other.cwd, "foreign.gz"));
    expect(await other.runHere(["restore", "foreign.gz", "--check"])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("another deployment secret"),
    });
    other.remove();
    writeFileSync(join(line.cwd, "cut.gz"), readFileSync(join(line.cwd, "own.gz")).subarray(0, -7));
    expect(await line.runHere(["restore", "cut.gz"])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("was cut or changed"),
    });
  });
});
