import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { updateTenant } from "../../src/people/tenants.ts";
import { disableWorker, enableWorker, setPassword } from "../../src/people/workers.ts";
import { endSessions, listSessions } from "../../src/store/sessions.ts";
import { databases } from "../kit/databases.ts";
import { goodPassword } from "../kit/node.ts";
import { type Deployment, deploy, proving, type SignedIn } from "./deployment.ts";
import { refusedOnEveryNode } from "./refused-on-every-node.ts";

const newPassword = "granite-lantern-sixty-four";
const rules = { loopbackHttp: true };

describe.each(databases)("sessions that others end, on $name", (database) => {
  let deployment: Deployment;
  let bystander: SignedIn;
  beforeAll(async () => {
    deployment = await deploy(database, { nodes: 2 });
    for (const tenant of ["closed", "emptied"]) await deployment.node.addTenant(tenant);
    bystander = await deployment.signIn();
  });
  afterAll(() => deployment?.close());

  const setNewPassword = async (username: string) => {
    const passwordHash = await deployment.node.app.services.hasher.hash(newPassword);
    const worker = await deployment.worker(username);
    await deployment.change((tx) => setPassword(tx, worker, passwordHash));
  };
  const ends: Record<string, { tenantId?: string; reason: string; end: (session: SignedIn) => Promise<unknown> }> = {
    "a worker who is disabled": {
      reason: "user_disabled",
      end: async ({ username }) => {
        const worker = await deployment.worker(username);
        await deployment.change((tx) => disableWorker(tx, worker));
      },
    },
    "a worker whose password changes": { reason: "password_changed", end: ({ username }) => setNewPassword(username) },
    "a tenant that is disabled": {
      tenantId: "closed",
      reason: "tenant_disabled",
      end: () => deployment.change((tx) => updateTenant(tx, "closed", { disabled: true }, rules)),
    },
    "`sessions end` of a session": {
      reason: "ended_by_admin",
      end: ({ sid }) =>
        deployment.change((tx) => endSessions(tx, { tenantId: "demo", sessionId: sid }, "ended_by_admin")),
    },
    "`sessions end` of a user": {
      reason: "ended_by_admin",
      end: ({ userId }) => deployment.change((tx) => endSessions(tx, { tenantId: "demo", userId }, "ended_by_admin")),
    },
    "`sessions end` of a tenant": {
      tenantId: "emptied",
      reason: "ended_by_admin",
      end: () => deployment.change((tx) => endSessions(tx, { tenantId: "emptied" }, "ended_by_admin")),
    },
  };

  test.each(Object.entries(ends))("%s: refresh is dead at once, access within 5 s", async (_, given) => {
    const { end, reason, tenantId = "demo" } = given;
    const first = await deployment.signIn({ tenantId });
    const second = await deployment.signIn({ tenantId, username: first.username, bound: false });
    const ended = given === ends["`sessions end` of a session"] ? [first] : [first, second];
    for (const { api } of deployment.nodes) {
      for (const { token } of [first, second, bystander]) expect((await api.checkToken(token)).status).toBe(200);
    }

    await end(first);
    // On one node alone: the other must hear of it by itself.
    for (const session of ended) {
      const refusal = await deployment.node.api.refresh(session.refreshToken, proving(session));
      expect([refusal.status, refusal.body.code]).toEqual([401, "session_revoked"]);
    }
    await refusedOnEveryNode(deployment, ended);
    for (const session of ended) expect(await deployment.row(session)).toMatchObject({ revoked_reason: reason });
    for (const session of [bystander, ...(ended.includes(second) ? [] : [second])]) {
      for (const { api } of deployment.nodes) expect((await api.checkToken(session.token)).status).toBe(200);
    }
  });

  test("who is enabled again signs in anew; what was ended stays ended", async () => {
    const session = await deployment.signIn();
    const { username, userId } = session;
    const login = () => deployment.node.api.login({ username, password: goodPassword });
    const worker = await deployment.worker(username);
    const disabled = await deployment.change((tx) => disableWorker(tx, worker));
    expect((await login()).body.code).toBe("invalid_credentials");
    await deployment.change((tx) => enableWorker(tx, disabled));
    expect((await deployment.node.api.refresh(session.refreshToken, proving(session))).body.code).toBe(
      "session_revoked",
    );
    expect(await listSessions(deployment.store, { tenantId: "demo", userId })).toEqual([]);
    expect((await login()).status).toBe(200);
    expect(await listSessions(deployment.store, { tenantId: "demo", userId })).toHaveLength(1);
  });

  test("after a change of password only the new one signs in", async () => {
    const { username } = await deployment.signIn();
    await setNewPassword(username);
    const { api } = deployment.node;
    expect((await api.login({ username, password: goodPassword })).body.code).toBe("invalid_credentials");
    expect((await api.login({ username, password: newPassword })).status).toBe(200);
  });

  test("a tenant of more sessions than a statement has parameters is ended as a whole", async () => {
    await deployment.node.addTenant("crowd");
    const session = await deployment.signIn({ tenantId: "crowd" });
    const { id: _, head_hash: __, ...row } = await deployment.row(session);
    const columns = sql.join(Object.keys(row).map((name) => sql.ref(name)));
    const copy = (mark: string) =>
      sql`insert into sessions (id, ${columns}) select id || cast(${mark} as text), ${columns}
        from sessions where tenant_id = 'crowd' and id not like '%+%'`.execute(deployment.store.db);
    for (let doubling = 0; doubling < 12; doubling += 1) await copy(`-${doubling}`);
    for (let more = 1; more < 8; more += 1) await copy(`+${more}`);
    for (const { api } of deployment.nodes) expect((await api.checkToken(session.token)).status).toBe(200);
    const ended = await deployment.change((tx) => endSessions(tx, { tenantId: "crowd" }, "ended_by_admin"));
    expect(ended).toHaveLength(2 ** 15);
    await refusedOnEveryNode(deployment, [session]);
    for (const { api } of deployment.nodes) expect((await api.checkToken(bystander.token)).status).toBe(200);
  });

  test("a lock-out ends no session, and leaves the device's owner alone", async () => {
    const session = await deployment.signIn();
    const { username, deviceToken } = session;
    const { api } = deployment.node;
    const guess = () => api.login({ username, password: "not the password at all" });
    const statuses = [];
    for (let tries = 0; tries < 6; tries += 1) statuses.push((await guess()).status);
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429]);
    expect((await api.login({ username, password: goodPassword })).status).toBe(429);

    expect((await api.checkToken(session.token)).status).toBe(200);
    expect((await api.refresh(session.refreshToken, proving(session))).status).toBe(200);
    const owner = await api.login({ username, password: goodPassword }, { headers: { "x-device-token": deviceToken } });
    expect(owner.status, owner.text).toBe(200);
  });
});
