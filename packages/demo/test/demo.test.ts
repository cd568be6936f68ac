import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { get } from "node:http";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { demoAccount, signInByProgram } from "../src/identity-provider/index.ts";
import type { InboxMessage } from "../src/inbox.ts";

const main = fileURLToPath(new URL("../src/main.ts", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "fieldgate-demo-"));
let demo: ChildProcessWithoutNullStreams;
let port = 0;
let printed = "";

async function start(): Promise<void> {
  const env = { PATH: process.env.PATH ?? "", PORT: String(port), FIELDGATE_DATA_DIR: folder };
  demo = spawn(process.execPath, [main], { env });
  printed = "";
  for (const stream of [demo.stdout, demo.stderr]) {
    stream.setEncoding("utf8");
    stream.on("data", (text: string) => {
      printed += text;
    });
  }
  for (let tries = 0; tries < 400 && !printed.includes("Ctrl-C ends it"); tries += 1) {
    if (demo.exitCode !== null) break;
    await sleep(50);
  }
  expect(printed).toContain("Ctrl-C ends it");
}

async function stop(): Promise<void> {
  const ended = once(demo, "exit");
  demo.kill("SIGTERM");
  expect(await ended).toEqual([0, null]);
}

beforeAll(async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  port = typeof address === "object" && address ? address.port : 0;
  await new Promise((resolve) => server.close(resolve));
  await start();
});
afterAll(async () => {
  await stop();
  rmSync(folder, { recursive: true, force: true });
});

const url = (path: string) => `http://localhost:${port}${path}`;

async function post(path: string, body: object) {
  const response = await fetch(url(path), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

async function messageTo(address: string): Promise<InboxMessage> {
  for (let tries = 0; tries < 100; tries += 1) {
    const messages = (await (await fetch(url("/dev/inbox/messages"))).json()) as InboxMessage[];
    const found = messages.find(({ to }) => to === address);
    if (found) return found;
    await sleep(50);
  }
  throw new Error(`Nothing came for ${address}.`);
}

describe("the demo", () => {
  test("says what there is to try", () => {
    for (const told of [
      "/dev/inbox",
      "amina",
      "Wanjiku, Kamau, Njeri",
      "zawadi@example.org",
      "12345678",
      "otp/verify",
    ]) {
      expect(printed).toContain(told);
    }
  });

  test("opens with the portal, which says that it is a demo and what there is to try", async () => {
    const page = await fetch(url("/"));
    expect(page.headers.get("content-security-policy")).toContain("script-src 'self'");
    const facts = JSON.parse(/id="page-config">([^<]*)</.exec(await page.text())?.[1] ?? "");
    expect(facts).toMatchObject({ tenant: "demo", demo: { inbox: "dev/inbox", card: "dev/card" } });
    expect(JSON.stringify(facts.demo.people)).toContain("acacia-lantern-river-42");
    const card = await fetch(url("/dev/card"));
    expect(await card.text()).toContain("<svg");
    expect(card.headers.get("content-security-policy")).toMatch(/style-src 'sha256-[A-Za-z0-9+/]{43}='/);
    expect((await fetch(url("/dev/card.png"))).headers.get("content-type")).toBe("image/png");
  });

  test("a household reads its code in the inbox and chooses who signs in", async () => {
    const recipient = "0700 000 111";
    expect((await post("/api/auth/otp/request", { recipient })).status).toBe(200);
    const message = await messageTo("+254700000111");
    expect(message).toMatchObject({ medium: "sms", code: expect.stringMatching(/^\d{6}$/) });
    expect(message.text).toContain(`@localhost #${message.code}`);
    const choice = await post("/api/auth/otp/verify", { recipient, code: message.code });
    expect(choice.status).toBe(409);
    const selection = choice.body.selection as { entityId: string; label: string }[];
    expect(selection.map(({ label }) => label).sort()).toEqual(["Kamau", "Njeri", "Wanjiku"]);
    const [{ entityId } = { entityId: "" }] = selection;
    const session = await post("/api/auth/otp/verify", { selectionToken: choice.body.selectionToken, entityId });
    expect(session).toMatchObject({ status: 200, body: { username: `self-service:${entityId}` } });
  });

  test("someone with an email alone gets it in her language", async () => {
    await post("/api/auth/otp/request", { recipient: "zawadi@example.org" });
    const message = await messageTo("zawadi@example.org");
    expect(message).toMatchObject({ medium: "email", subject: "Nambari yako ya Demo programme" });
    const session = await post("/api/auth/otp/verify", { recipient: message.to, code: message.code });
    expect(session.status).toBe(200);
  });

  test("ID number and date of birth open the door; a birth year needs a code as well", async () => {
    const sure = await post("/api/auth/id/verify", {
      idNumber: "12345678",
      dateOfBirth: "1975-06-30",
      tenantId: "demo",
    });
    expect(sure.status).toBe(200);
    const unsure = { idNumber: "87654321", dateOfBirth: "1950", tenantId: "demo" };
    const step = await post("/api/auth/id/verify", unsure);
    expect(step).toMatchObject({ status: 403, body: { code: "step_up_required" } });
    const { code, text } = await messageTo("+254700000222");
    expect(text).toContain("رمزك");
    const { challenge } = step.body;
    expect((await post("/api/auth/otp/verify", { challenge, code })).status).toBe(200);
  });

  test("the inbox is a page that runs nothing, for this machine alone", async () => {
    const page = await fetch(url("/dev/inbox"));
    const text = await page.text();
    expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(page.headers.get("cache-control")).toBe("no-store");
    expect(text).toContain("zawadi@example.org");
    expect(text).not.toMatch(/<script|onclick|style=/);
    expect((await fetch(url("/dev/inbox/style.css"))).headers.get("content-type")).toContain("text/css");
    for (const path of ["/dev/inbox", "/dev/inbox/messages", "/dev/card", "/dev/card.png"]) {
      const status = await new Promise((resolve, reject) => {
        const headers = { host: "evil.example.org" };
        get({ port, host: "127.0.0.1", path, headers }, (answer) => resolve(answer.statusCode)).on("error", reject);
      });
      expect(status).toBe(404);
    }
  });

  test("both kinds of identity providers are offered, and let the demo's worker in", async () => {
    const { adapters } = (await (await fetch(url("/api/tenants/demo/auth-config"))).json()) as {
      adapters: { type: string; fields: Record<string, string> }[];
    };
    const { username, password } = demoAccount;
    expect(printed).toContain(`${username}, password ${password}`);
    for (const type of ["oidc_a", "oidc_b"]) {
      const {
        authority = "",
        client_id: clientId = "",
        ...membership
      } = adapters.find((adapter) => adapter.type === type)?.fields ?? {};
      expect(printed).toContain(authority);
      const { id_token } = await signInByProgram({
        issuer: membership.realm ? `${authority}/realms/${membership.realm}` : `${authority}/`,
        clientId,
        redirectUri: url("/"),
        username,
        password,
        ...(membership.organization && { parameters: { organization: membership.organization } }),
      });
      expect(id_token.split(".")).toHaveLength(3);
    }
  });

  test("a second start finds everyone there, and the inbox empty", async () => {
    await stop();
    await start();
    expect(await (await fetch(url("/dev/inbox/messages"))).json()).toEqual([]);
    const sure = await post("/api/auth/id/verify", {
      idNumber: "12345678",
      dateOfBirth: "1975-06-30",
      tenantId: "demo",
    });
    expect(sure.status).toBe(200);
  });
});

test("the printed card signs its holder in, also after a restart", async () => {
  const qrPayload = readFileSync(join(folder, "demo-card.txt"), "utf8");
  expect(printed).toContain(join(folder, "demo-card.html"));
  expect(readFileSync(join(folder, "demo-card.png")).subarray(1, 4).toString()).toBe("PNG");
  const answer = await fetch(url("/api/auth/qr/verify"), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ qrPayload }),
  });
  expect(answer.status).toBe(200);
});
