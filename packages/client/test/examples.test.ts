import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import "../../../examples/add-a-provider/invitation-adapter.ts";
import { AuthManager } from "@fieldgate/client";
import { adapterConformance, storageConformance } from "@fieldgate/client/testing";
import { SqliteAuthStorageAdapter } from "../../../examples/add-a-storage/sqlite-storage.ts";
import { amina, useService } from "./kit/service.ts";

const root = join(import.meta.dirname, "../../..");
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "fieldgate-examples-"));
});
afterAll(() => rm(folder, { recursive: true }));

describe("the guides show what the examples do", () => {
  test.each([
    ["docs/add-a-provider.md", "examples/add-a-provider/invitation-adapter.ts"],
    ["docs/add-a-storage.md", "examples/add-a-storage/sqlite-storage.ts"],
  ])("%s", async (guide, example) => {
    const [text, code] = await Promise.all([guide, example].map((file) => readFile(join(root, file), "utf8")));
    const blocks = [...(text as string).matchAll(/```ts\n(.*?)```/gs)].map(([, block]) => block as string);
    const ofExample = blocks.filter((block) => code?.includes(block));
    expect(ofExample.length).toBeGreaterThan(0);
    for (const block of blocks) {
      // Either it is the example's own text, or it shows a use of what the example defines.
      const isUse = /storageConformance|adapterConformance|new AuthManager|OnlyMyVillage/.test(block);
      expect(code?.includes(block) || isUse, block).toBe(true);
    }
  });
});

describe("the storage of the guide", () => {
  const create = (tenantId: string) => new SqliteAuthStorageAdapter(tenantId, join(folder, "sessions.db"));
  for (const { name, run } of storageConformance({ create })) test(name, run);

  describe("with a real service", () => {
    const service = useService();
    test("keeps a worker signed in", async () => {
      const keys = service.manager().storage as unknown as { keys(): NonNullable<unknown> };
      const options = { keys: keys.keys() as never };
      const { auth, device } = service.manager({ storage: create("demo"), ...options });
      await auth.login(amina);
      device.letTokenEnd();
      expect(await auth.getToken()).toBeTruthy();
      const { auth: later } = service.manager({ storage: create("demo"), device, ...options });
      expect(await later.getToken()).toBeTruthy();
      await later.logout();
    });
  });
});

describe("the provider of the guide", () => {
  const living = new Set<string>();
  let isDown = false;
  const service = createServer((request, response) => {
    if (isDown) return request.socket.destroy();
    const token = request.headers.authorization?.slice(7) ?? "";
    if (request.url === "/whoami") return response.writeHead(living.has(token) ? 200 : 401).end();
    let body = "";
    request.on("data", (chunk) => {
      body += chunk;
    });
    request.on("end", () => {
      if (JSON.parse(body).code !== "welcome") return response.writeHead(404).end();
      const given = `invited-${living.size}`;
      living.add(given);
      response.end(JSON.stringify({ username: "guest", token: given }));
    });
  });
  let url: string;
  beforeAll(async () => {
    await new Promise<void>((resolve) => service.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
  });
  afterAll(() => service.close().closeAllConnections());
  const manager = () =>
    new AuthManager([{ type: "invitation", fields: { service: url } }], "https://auth.example.org", undefined, {
      checkInterval: 0,
    });

  test("names the field that is wrong", () => {
    const construct = () => new AuthManager([{ type: "invitation", fields: {} }], "https://auth.example.org");
    expect(construct).toThrow(/invitation.service/);
  });

  test("signs in through AuthManager", async () => {
    const auth = manager();
    await auth.login({ username: "", password: "welcome" }, "invitation");
    expect(auth.state).toEqual({ status: "signedIn", provider: "invitation", username: "guest" });
    expect(await auth.adapter("invitation").isAuthenticated()).toBe(true);
    await auth.close();
  });

  const cases = adapterConformance({
    async create() {
      const auth = manager();
      await auth.initialize();
      const adapter = auth.adapter("invitation");
      return {
        initialize: () => adapter.initialize(),
        login: (credentials) => auth.login(credentials, "invitation"),
        logout: () => auth.logout(),
        isAuthenticated: () => adapter.isAuthenticated(),
        validateToken: (token) => adapter.validateToken(token),
      };
    },
    signIn: (adapter) => adapter.login({ username: "", password: "welcome" }),
    network: {
      down: () => {
        isDown = true;
      },
      up: () => {
        isDown = false;
      },
    },
  });
  for (const { name, run } of cases) test(name, run);
});

describe("programs", () => {
  const service = useService({ workerAccess: 4 });

  function run(file: string, args: string[], input = ""): Promise<{ code: number | null; out: string; err: string }> {
    return new Promise((resolve) => {
      const child = spawn(process.execPath, [join(root, "examples", file), ...args]);
      let [out, err] = ["", ""];
      child.stdout.on("data", (chunk) => {
        out += chunk;
      });
      child.stderr.on("data", (chunk) => {
        err += chunk;
      });
      child.on("close", (code) => resolve({ code, out: out.trim(), err: err.trim() }));
      child.stdin.end(input);
    });
  }
  const script = (...more: string[]) => ["--server", service.url, "--directory", join(folder, "worker"), ...more];

  test("a script signs a worker in once, several of it stay signed in, and a logout ends it for all", async () => {
    const wrong = await run("worker-script/main.ts", script("--username", "amina"), "wrong\n");
    expect(wrong).toMatchObject({ code: 1, out: "" });
    expect(wrong.err).toMatch(/username or the password/);
    const first = await run("worker-script/main.ts", script("--username", "amina"), `${amina.password}\n`);
    expect(first).toMatchObject({ code: 0, out: "signed in as amina (field-worker)" });
    await new Promise((resolve) => setTimeout(resolve, 4000));
    // The token has ended by now: these three renew it at the same time, each in its own process.
    const again = await Promise.all([1, 2, 3].map(() => run("worker-script/main.ts", script())));
    for (const each of again)
      expect(each, each.err).toMatchObject({ code: 0, out: "signed in as amina (field-worker)" });
    const keys = join(folder, "worker/demo/keys");
    for (const name of await readdir(keys)) expect((await stat(join(keys, name))).mode & 0o777).toBe(0o600);
    expect((await run("worker-script/main.ts", script("--logout"))).out).toBe("signed out");
    const after = await run("worker-script/main.ts", script("--username", "amina"), "");
    expect(after).toMatchObject({ code: 1, out: "" });
  });

  test("another service accepts the tokens by the published keys, and nothing else", async () => {
    let child: ChildProcess | undefined;
    try {
      const file = join(root, "examples/resource-server/main.ts");
      child = spawn(process.execPath, [file, "--issuer", service.url, "--port", "0"]);
      const port = await new Promise<string>((resolve, reject) => {
        child?.stdout?.on("data", (line) => resolve(String(line).trim().split(" ").at(-1) as string));
        child?.on("exit", () => reject(new Error("The resource server ended.")));
      });
      const url = `http://127.0.0.1:${port}`;
      const { auth } = service.manager({ trustedOrigins: [url] });
      const { token } = await auth.login(amina);
      const answer = await auth.fetch(`${url}/anything`);
      expect(await answer.json()).toMatchObject({ scope: "field-work" });
      const ask = (bearer: string) => fetch(url, { headers: { Authorization: `Bearer ${bearer}` } });
      for (const bad of ["x", `${token.slice(0, -6)}AAAAAA`, ""]) expect((await ask(bad)).status).toBe(401);
    } finally {
      child?.kill();
    }
  });
});
