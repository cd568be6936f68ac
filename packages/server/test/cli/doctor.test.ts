import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { recordEvent } from "../../src/journal/record.ts";
import { holdLease } from "../../src/store/leases.ts";
import { openStore } from "../../src/store/open-store.ts";
import type { Store } from "../../src/store/store.ts";
import { type MailServer, startMailServer } from "../delivery/mail-server.ts";
import { makeCertificate } from "../kit/certificate.ts";
import { CommandLine, databaseUrl, newSecret } from "../kit/command-line.ts";
import { databases, type FreshDatabase } from "../kit/databases.ts";

interface Report {
  readonly ok: boolean;
  readonly findings: readonly { check: string; state: string; sentence: string; remedy?: string }[];
}

const secret = newSecret();
const day = 86_400_000;

describe.each(databases)("doctor on $name", ({ fresh }) => {
  let database: FreshDatabase;
  let line: CommandLine;
  let store: Store;
  let mail: MailServer;

  beforeAll(async () => {
    database = await fresh({ empty: true });
    mail = await startMailServer();
    line = new CommandLine({ FIELDGATE_TRUSTED_PROXIES: "127.0.0.1" });
    const init = ["init", "--base-url", "https://id.example.org", "--tenant", "kenya", "--admin", "amina"];
    const env = { FIELDGATE_SECRET: secret };
    const where = ["--database-url", databaseUrl(database.config), "--smtp-url", `smtp://127.0.0.1:${mail.port}`];
    const made = await line.runHere([...init, "--password-stdin", ...where], {
      input: "walnut harbour seventeen",
      env,
    });
    expect(made).toMatchObject({ code: 0, stderr: "" });
    store = await openStore(database.config, systemClock);
  });
  afterAll(async () => {
    await store.close();
    await mail.stop();
    line.remove();
    await database.drop();
  });

  async function examine(env: Record<string, string> = {}) {
    const outcome = await line.runHere(["doctor", "--json"], { env: { FIELDGATE_SECRET: secret, ...env } });
    const report = JSON.parse(outcome.stdout) as Report;
    expect(outcome.code).toBe(report.ok ? 0 : 1);
    return (check: string) => report.findings.filter((finding) => finding.check === check);
  }

  it("bad configuration", async () => {
    const findings = await examine({ FIELDGATE_SECRET: "changeme", FIELDGATE_PORT: "x" });
    expect(findings("configuration").map(({ state }) => state)).toEqual(["bad", "bad"]);
  });

  it("another secret", async () => {
    expect((await examine({ FIELDGATE_SECRET: newSecret() }))("keys")).toMatchObject([
      { state: "bad", sentence: expect.stringContaining("another secret") },
    ]);
  });

  it("a default tenant that is not there", async () => {
    expect((await examine({ FIELDGATE_DEFAULT_TENANT: "nowhere" }))("tenant")).toMatchObject([
      { state: "bad", remedy: expect.stringContaining("fieldgate tenant add nowhere") },
    ]);
  });

  it("keys that are past their time", async () => {
    await store.db
      .updateTable("keys")
      .set({ active_from: Date.now() - 100 * day })
      .where("purpose", "=", "access")
      .execute();
    expect((await examine())("keys")).toMatchObject([{ state: "warn", sentence: expect.stringContaining("100 days") }]);
  });

  it("a journal that nobody seals: a warning without a node, bad with one", async () => {
    await store.transaction((tx) => recordEvent(tx, { tenantId: "kenya", type: "login.failed" }));
    await store.db
      .updateTable("journal_events")
      .set({ at: Date.now() - 60_000 })
      .execute();
    expect((await examine())("journal")).toMatchObject([
      { state: "warn", sentence: expect.stringContaining("no node") },
    ]);
    await holdLease(store, "journal-sealer", "a-node", 60);
    expect((await examine())("journal")).toMatchObject([{ state: "bad", remedy: expect.stringContaining("log") }]);
  });

  it("TLS files: good, expiring, expired, of another host, of another key, missing", async () => {
    const file = (name: string, text: string) => {
      writeFileSync(join(line.cwd, name), text);
      return name;
    };
    const tls = async (pair: { cert: string; key: string }) => {
      const env = { FIELDGATE_TLS_CERT: file("cert.pem", pair.cert), FIELDGATE_TLS_KEY: file("key.pem", pair.key) };
      return (await examine(env))("tls");
    };
    const validity = (days: number) => ({
      from: new Date(Date.now() - 400 * day),
      to: new Date(Date.now() + days * day),
    });
    const good = makeCertificate("id.example.org", validity(90.5));
    expect(await tls(good)).toMatchObject([{ state: "ok", sentence: expect.stringContaining("90 days") }]);
    expect(await tls(makeCertificate("id.example.org", validity(5.5)))).toMatchObject([
      { state: "warn", sentence: expect.stringContaining("5 days") },
    ]);
    expect(await tls(makeCertificate("id.example.org", validity(-1)))).toMatchObject([
      { state: "bad", sentence: expect.stringContaining("expired") },
    ]);
    expect(await tls(makeCertificate("other.example.org", validity(90)))).toMatchObject([
      { state: "bad", sentence: expect.stringContaining("not for id.example.org") },
    ]);
    expect(await tls({ cert: good.cert, key: makeCertificate("x", validity(1)).key })).toMatchObject([
      { state: "bad", sentence: expect.stringContaining("does not belong") },
    ]);
    const missing = await examine({ FIELDGATE_TLS_CERT: "none.pem", FIELDGATE_TLS_KEY: "none.pem" });
    expect(missing("tls")).toMatchObject([{ state: "bad", sentence: expect.stringContaining("ENOENT") }]);
  });

  it("a data directory that others may read", async () => {
    const dataDir = join(line.cwd, "open");
    mkdirSync(dataDir);
    chmodSync(dataDir, 0o755);
    const findings = await examine({ FIELDGATE_DATA_DIR: dataDir });
    expect(findings("data")).toMatchObject([{ state: "warn", remedy: `Run: chmod go= ${dataDir}` }]);
    expect(findings("disk")).toHaveLength(1);
  });

  it("channels: one that works, one that nobody answers, none at all", async () => {
    expect((await examine())("delivery")).toMatchObject([{ state: "ok", sentence: "smtp can be reached for email." }]);
    const channels = [
      { type: "smtp", name: "mail", url: `smtp://127.0.0.1:${mail.port}`, from: "a@example.org" },
      { type: "smpp", url: "smpp://127.0.0.1:1", systemId: "fg", password: "hush", from: "KENYA" },
      { type: "twilio", accountSid: "AC1", authToken: "hush", from: "+1", baseUrl: "http://127.0.0.1:1" },
    ];
    writeFileSync(join(line.cwd, "channels.json"), JSON.stringify(channels));
    const found = (await examine({ FIELDGATE_DELIVERY: "@channels.json" }))("delivery");
    expect(found).toMatchObject([
      { state: "ok" },
      { state: "bad", sentence: expect.stringContaining("ECONNREFUSED") },
      { state: "bad", sentence: expect.stringContaining("ECONNREFUSED"), remedy: expect.stringContaining("twilio") },
    ]);
    expect(JSON.stringify(found)).not.toContain("hush");
    expect(mail.mails).toEqual([]);
    const wrong = (await examine({ FIELDGATE_DELIVERY: '[{"type":"fax"}]' }))("configuration");
    expect(wrong).toMatchObject([{ state: "bad", sentence: expect.stringContaining("FIELDGATE_DELIVERY[0].type") }]);
  });

  it("plain http without a proxy", async () => {
    expect((await examine({ FIELDGATE_TRUSTED_PROXIES: "" }))("https")).toMatchObject([{ state: "warn" }]);
  });

  it("a schema from the future", async () => {
    await sql`insert into schema_migrations (version, name) values (999, 'tomorrow')`.execute(store.db);
    expect((await examine())("database")).toMatchObject([{ state: "bad", sentence: expect.stringContaining("newer") }]);
    const list = await line.runHere(["tenant", "list"], { env: { FIELDGATE_SECRET: secret } });
    expect(list).toMatchObject({ code: 1, stderr: expect.stringContaining("Use the newer version") });
    await sql`delete from schema_migrations where version = 999`.execute(store.db);
  });
});
