import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { get } from "node:https";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Session } from "@fieldgate/contract";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeCertificate } from "../kit/certificate.ts";
import { CommandLine, databaseUrl, newSecret } from "../kit/command-line.ts";
import { databases, type FreshDatabase } from "../kit/databases.ts";
import { type Served, serve } from "../kit/served.ts";

const password = "walnut harbour seventeen";
const https = { "x-forwarded-proto": "https", "content-type": "application/json" };

async function login(url: string, username: string, secret = password) {
  const body = JSON.stringify({ username, password: secret });
  const response = await fetch(`${url}/api/users/login`, { method: "POST", headers: https, body });
  return { status: response.status, body: (await response.json()) as Session };
}

async function check(url: string, token: string): Promise<number> {
  const headers = { ...https, authorization: `Bearer ${token}` };
  return (await fetch(`${url}/api/users/check-token`, { headers })).status;
}

async function refresh(url: string, refreshToken: string): Promise<number> {
  const body = JSON.stringify({ refreshToken });
  return (await fetch(`${url}/api/users/refresh`, { method: "POST", headers: https, body })).status;
}

/** Asks until the answer is what it has to become within five seconds. */
async function within5s(ask: () => Promise<number>, expected: number): Promise<void> {
  const deadline = Date.now() + 5000;
  let last = await ask();
  while (last !== expected && Date.now() < deadline) {
    await sleep(100);
    last = await ask();
  }
  expect(last).toBe(expected);
}

describe.each(databases)("commands beside a running service on $name", ({ fresh }) => {
  let database: FreshDatabase;
  let line: CommandLine;
  let served: Served;

  beforeAll(async () => {
    database = await fresh({ empty: true });
    line = new CommandLine({ FIELDGATE_TRUSTED_PROXIES: "127.0.0.1", FIELDGATE_PORT: "0" });
    const flags = ["--base-url", "https://id.example.org", "--tenant", "kenya", "--admin", "amina", "--password-stdin"];
    const where = ["--database-url", databaseUrl(database.config), "--smtp-url", "smtp://127.0.0.1:2525"];
    await line.json(["init", ...flags, ...where], { input: password });
    served = await serve(line);
  });
  afterAll(async () => {
    await served?.stop();
    line.remove();
    await database.drop();
  });

  const here = (args: string[], input = "") => line.jsonHere(args, { input });

  it("init, serve, sign in", async () => {
    const { status, body } = await login(served.url, "Amina");
    expect(status).toBe(200);
    expect(body).toMatchObject({ username: "amina", tenantId: "kenya" });
    expect(await check(served.url, body.token)).toBe(200);
    const plain = await fetch(`${served.url}/api/users/check-token`, { headers: { authorization: "Bearer x" } });
    expect(plain.status).toBe(403);
  });

  it("a user who was just added signs in, and disabling ends the session", async () => {
    await here(["user", "add", "otieno", "--password-stdin"], password);
    const { body } = await login(served.url, "otieno");
    expect(await check(served.url, body.token)).toBe(200);
    const sessions = (await here(["sessions", "list", "--user", "otieno"])) as unknown as Record<string, unknown>[];
    expect(sessions).toMatchObject([{ username: "otieno", provider: "password", bound: false }]);

    await here(["user", "disable", "otieno"]);
    expect(await refresh(served.url, body.refreshToken)).toBe(401);
    await within5s(() => check(served.url, body.token), 401);
    expect((await login(served.url, "otieno")).status).toBe(401);
    await here(["user", "enable", "otieno"]);
    expect((await login(served.url, "otieno")).status).toBe(200);
  });

  it("a new password ends the sessions, and the old one opens nothing", async () => {
    const { body } = await login(served.url, "amina");
    const next = "copper bridge nineteen lamps";
    await here(["user", "password", "amina", "--password-stdin"], next);
    await within5s(() => check(served.url, body.token), 401);
    expect((await login(served.url, "amina")).status).toBe(401);
    expect((await login(served.url, "amina", next)).status).toBe(200);
    await here(["user", "password", "amina", "--password-stdin"], password);
  });

  it("sessions end ends one session and leaves the others", async () => {
    const one = (await login(served.url, "amina")).body;
    const two = (await login(served.url, "amina")).body;
    const claims = JSON.parse(Buffer.from(one.token.split(".")[1] ?? "", "base64url").toString()) as { sid: string };
    expect(await here(["sessions", "end", "--session", claims.sid, "--yes"])).toEqual({ ended: [claims.sid] });
    await within5s(() => check(served.url, one.token), 401);
    expect(await check(served.url, two.token)).toBe(200);
    expect(((await here(["sessions", "end", "--user", "amina", "--yes"])) as { ended: string[] }).ended).toHaveLength(
      1,
    );
    await within5s(() => check(served.url, two.token), 401);
  });

  it("user unlock lets someone in again at once", async () => {
    await here(["user", "add", "wanjiru", "--password-stdin"], password);
    for (let attempt = 0; attempt < 6; attempt++) await login(served.url, "wanjiru", "wrong wrong wrong wrong");
    expect((await login(served.url, "wanjiru")).status).toBe(429);
    expect((await here(["user", "unlock", "wanjiru"])).cleared).toBeGreaterThan(0);
    expect((await login(served.url, "wanjiru")).status).toBe(200);
  });

  it("keys rotate: the next key signs after its lead, and no token fails", async () => {
    const before = (await login(served.url, "amina")).body.token;
    const kid = (token: string) =>
      (JSON.parse(Buffer.from(token.split(".")[0] ?? "", "base64url").toString()) as { kid: string }).kid;
    const next = (await here(["keys", "rotate", "--lead", "5"])).id;
    const deadline = Date.now() + 12_000;
    let newest = before;
    while (kid(newest) !== next && Date.now() < deadline) {
      await sleep(500);
      newest = (await login(served.url, "amina")).body.token;
      expect(await check(served.url, newest)).toBe(200);
      expect(await check(served.url, before)).toBe(200);
    }
    expect(kid(newest)).toBe(next);
  });

  it("secret rotate: the running node goes on, and a restart with both secrets works", async () => {
    const { token } = (await login(served.url, "amina")).body;
    const before = /^FIELDGATE_SECRET='(.*)'$/m.exec(readFileSync(join(line.cwd, "fieldgate.env"), "utf8"))?.[1] ?? "";
    const secret = newSecret();
    await here(["secret", "rotate", "--new-secret-stdin"], secret);
    await sleep(1500);
    expect(await check(served.url, token)).toBe(200);
    expect((await login(served.url, "amina")).status).toBe(200);
    expect(await served.stop()).toBe(0);

    await expect(serve(line)).rejects.toThrow("sealed under another secret");
    const env = { FIELDGATE_SECRET: secret, FIELDGATE_SECRET_PREVIOUS: before };
    served = await serve(line, [], env);
    expect(await check(served.url, token)).toBe(200);
    expect(await served.stop()).toBe(0);
    served = await serve(line, [], { FIELDGATE_SECRET: secret });
    expect(await check(served.url, token)).toBe(200);
  });

  it("a tenant that is disabled lets nobody in", async () => {
    const { token } = (await login(served.url, "amina")).body;
    await here(["tenant", "set", "kenya", "--disable", "--yes"]);
    await within5s(() => check(served.url, token), 401);
    await within5s(async () => (await login(served.url, "amina")).status, 401);
  });
});

describe("serve as a process", () => {
  let line: CommandLine;
  beforeAll(() => {
    line = new CommandLine({ FIELDGATE_PORT: "0" });
  });
  afterAll(() => line.remove());

  it.each(["SIGTERM", "SIGINT"] as const)(
    "--dev needs nothing else, binds to this machine, and ends on %s",
    async (signal) => {
      const served = await serve(line, ["--dev"], { HOST: "0.0.0.0" });
      expect(served.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
      expect((await fetch(`${served.url}/readyz`)).status).toBe(200);
      expect(await served.stop(signal)).toBe(0);
    },
  );

  it("a second signal ends it at once", async () => {
    const served = await serve(line, ["--dev"]);
    const { port } = new URL(served.url);
    // A request that never ends keeps the shutdown waiting.
    const socket = connect(Number(port), "127.0.0.1");
    socket.on("error", () => undefined);
    await new Promise<void>((resolve) => socket.once("connect", () => resolve()));
    socket.write(
      "POST /api/users/login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{",
    );
    await sleep(200);
    served.process.kill("SIGTERM");
    await sleep(200);
    expect(served.process.exitCode).toBeNull();
    expect(await served.stop("SIGTERM")).toBe(143);
    socket.destroy();
  });

  it("speaks TLS with its own certificate, and names a file it cannot use", async () => {
    const day = 86_400_000;
    const pair = makeCertificate("localhost", {
      from: new Date(Date.now() - day),
      to: new Date(Date.now() + 90 * day),
    });
    writeFileSync(join(line.cwd, "cert.pem"), pair.cert);
    writeFileSync(join(line.cwd, "key.pem"), pair.key);
    const delivery = '[{"type":"smtp","url":"smtp://127.0.0.1:2525","from":"a@example.org"}]';
    const base = { FIELDGATE_BASE_URL: "https://localhost", FIELDGATE_SECRET: newSecret(), FIELDGATE_DATA_DIR: "tls" };
    const env = { ...base, FIELDGATE_DELIVERY: delivery };
    const tls = { ...env, FIELDGATE_HOST: "127.0.0.1", FIELDGATE_TLS_CERT: "cert.pem" };
    const served = await serve(line, [], { ...tls, FIELDGATE_TLS_KEY: "key.pem" });
    expect(served.url).toMatch(/^https:/);
    const status = await new Promise((resolve, reject) => {
      const url = `${served.url}/.well-known/jwks.json`;
      get(url, { ca: pair.cert, servername: "localhost" }, (answer) => resolve(answer.statusCode)).on("error", reject);
    });
    expect(status).toBe(200);
    expect(await served.stop()).toBe(0);
    const missing = await line.run(["serve"], { env: { ...tls, FIELDGATE_TLS_KEY: "none.pem" } });
    expect(missing).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining("none.pem cannot be used") });
  });

  it("refuses to start in production without a way to send codes", async () => {
    const env = { FIELDGATE_BASE_URL: "https://localhost", FIELDGATE_SECRET: newSecret(), FIELDGATE_DATA_DIR: "none" };
    const outcome = await line.run(["serve"], { env });
    expect(outcome).toMatchObject({ code: 2, stdout: "" });
    expect(outcome.stderr).toContain("FIELDGATE_DELIVERY: is missing: without a channel no code can be sent.");
    expect(outcome.stderr).toContain("docs/delivery.md");
    const bad = await line.run(["serve"], { env: { ...env, FIELDGATE_DELIVERY: '[{"type":"smtp"}]' } });
    expect(bad).toMatchObject({ code: 2, stderr: expect.stringContaining("FIELDGATE_DELIVERY[0].url: is missing") });
  });

  it("refuses a default tenant that its database does not have, and makes no database for it", async () => {
    const env = { FIELDGATE_DEFAULT_TENANT: "kenya", FIELDGATE_DATA_DIR: "tenantless" };
    const file = join(line.cwd, "tenantless", "fieldgate.db");
    const none = await line.run(["serve", "--dev"], { env });
    expect(none).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining(`no database at ${file}`) });
    expect(existsSync(file)).toBe(false);
    const begun = await serve(line, ["--dev"], { FIELDGATE_DATA_DIR: "tenantless" });
    expect(await begun.stop()).toBe(0);
    expect(begun.output()).toContain("Fieldgate has stopped, as SIGTERM asked.");
    const empty = await line.run(["serve", "--dev"], { env: { ...env, FIELDGATE_LOG_LEVEL: "error" } });
    expect(empty).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining(`${file} has no such tenant`) });
    await line.jsonHere(["tenant", "add", "kenya", "--dev"], { env });
    const served = await serve(line, ["--dev"], env);
    expect(await served.stop()).toBe(0);
  });

  it("a port that is taken is named", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await new Promise<void>((resolve) => other.once("listening", () => resolve()));
    const address = other.address();
    const port = typeof address === "object" && address !== null ? String(address.port) : "";
    const outcome = await line.run(["serve", "--dev"], { env: { FIELDGATE_PORT: port } });
    other.close();
    expect(outcome).toMatchObject({ code: 1, stderr: expect.stringContaining(`127.0.0.1:${port} is in use`) });
  });
});
