import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

export interface RealmUser {
  readonly id: string;
  readonly username: string;
  readonly password: string;
}

/** A real Keycloak, in memory, that is told what to be through its admin API. */
export interface Keycloak {
  readonly url: string;
  addRealm(realm: string, client: object): Promise<void>;
  addUser(realm: string, names: { firstName: string; lastName: string }): Promise<RealmUser>;
  /** Ends all sessions of a user, as an administrator would. */
  endSessions(realm: string, user: RealmUser): Promise<void>;
  /** Gives the realm a new signing key that takes precedence. */
  rotateKeys(realm: string): Promise<void>;
  /** What the token endpoint answers to a username and a password. */
  tokens(realm: string, clientId: string, user: RealmUser): Promise<{ access_token: string }>;
  close(): Promise<void>;
}

/** Starts the distribution that is unpacked in `home`. The first start builds it, which takes its time. */
export async function startKeycloak(home: string, port: number): Promise<Keycloak> {
  const url = `http://localhost:${port}`;
  const admin = { username: "admin", password: randomBytes(16).toString("hex") };
  const started = spawn(
    join(home, "bin/kc.sh"),
    ["start-dev", `--http-port=${port}`, "--http-host=127.0.0.1", "--db=dev-mem", "--log-level=warn"],
    {
      env: {
        ...process.env,
        KC_BOOTSTRAP_ADMIN_USERNAME: admin.username,
        KC_BOOTSTRAP_ADMIN_PASSWORD: admin.password,
        JAVA_OPTS_KC_HEAP: "-Xms128m -Xmx768m",
      },
      stdio: ["ignore", "inherit", "inherit"],
      // A group of its own: the script starts Java as a child.
      detached: true,
    },
  );
  await untilReady(url, started);

  async function call(path: string, method: string, body?: object): Promise<Response> {
    const { access_token: token } = await tokens("master", "admin-cli", { id: "", ...admin });
    const response = await fetch(`${url}/admin/realms${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`);
    return response;
  }

  async function tokens(realm: string, clientId: string, { username, password }: RealmUser) {
    const body = new URLSearchParams({ grant_type: "password", client_id: clientId, username, password });
    const response = await fetch(`${url}/realms/${realm}/protocol/openid-connect/token`, { method: "POST", body });
    if (!response.ok) throw new Error(`Keycloak gave no token: ${await response.text()}`);
    return (await response.json()) as { access_token: string };
  }

  return {
    url,
    tokens,
    async addRealm(realm, client) {
      await call("", "POST", { realm, enabled: true, sslRequired: "none" });
      await call(`/${realm}/clients`, "POST", { publicClient: true, standardFlowEnabled: true, ...client });
    },
    async addUser(realm, names) {
      const password = randomBytes(12).toString("hex");
      const username = names.firstName.toLowerCase();
      const response = await call(`/${realm}/users`, "POST", {
        ...names,
        username,
        email: `${username}@example.org`,
        emailVerified: true,
        enabled: true,
        credentials: [{ type: "password", value: password, temporary: false }],
      });
      const id = response.headers.get("location")?.split("/").at(-1) ?? "";
      return { id, username, password };
    },
    async endSessions(realm, { id }) {
      await call(`/${realm}/users/${id}/logout`, "POST");
    },
    async rotateKeys(realm) {
      const { id } = (await (await call(`/${realm}`, "GET")).json()) as { id: string };
      await call(`/${realm}/components`, "POST", {
        name: `rotated-${Date.now()}`,
        parentId: id,
        providerId: "rsa-generated",
        providerType: "org.keycloak.keys.KeyProvider",
        config: { priority: ["1000"], enabled: ["true"], active: ["true"], algorithm: ["RS256"], keySize: ["2048"] },
      });
    },
    async close() {
      if (started.exitCode !== null || started.pid === undefined) return;
      const ended = once(started, "exit");
      process.kill(-started.pid, "SIGTERM");
      await ended;
    },
  };
}

async function untilReady(url: string, started: ChildProcess): Promise<void> {
  for (let tries = 0; tries < 600; tries += 1) {
    if (started.exitCode !== null) throw new Error(`Keycloak ended with ${started.exitCode}.`);
    const answer = await fetch(`${url}/realms/master`).catch(() => null);
    if (answer?.ok) return;
    await sleep(500);
  }
  throw new Error("Keycloak did not start within five minutes.");
}
