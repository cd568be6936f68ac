import { describe, expect, test } from "vitest";
import { MemoryAuthStorageAdapter } from "../src/storage/memory.ts";
import { paths } from "./kit/faulty-network.ts";
import { amina, useService, wait } from "./kit/service.ts";

describe("a logout", () => {
  const service = useService();
  const isAlive = async (token: string) => (await service.node.api.checkToken(token)).status === 200;

  test("empties the storage, ends the session at the server, and tells both", async () => {
    const { auth, storage, network } = service.manager();
    const { token } = await auth.login(amina);
    await auth.logout();
    expect(auth.state).toEqual({ status: "signedOut", reason: "logout" });
    expect(await storage.providers()).toEqual([]);
    expect(await auth.getToken()).toBeNull();
    expect(await auth.getCurrentUser()).toBeNull();
    expect(await auth.isAuthenticated()).toBe(false);
    expect(await isAlive(token)).toBe(false);
    // Only a hash travels: it can end the session and nothing else.
    expect(Object.keys(network.to(paths.logout)[0]?.body ?? {})).toEqual(["refreshTokenHash", "tenantId"]);
    expect(network.to(paths.logout)[0]?.headers.get("Authorization")).toBeNull();
    expect(await storageKeys(storage)).toEqual({ pair: 0, logout: 0 });
  });

  test("can be repeated, and done by somebody who is not signed in", async () => {
    const { auth } = service.manager();
    await auth.logout();
    await auth.login(amina);
    await Promise.all([auth.logout(), auth.logout()]);
    expect(auth.state.status).toBe("signedOut");
  });

  test("works offline at once, and reaches the server when it is back, after a restart too", async () => {
    const { auth, storage, network } = service.manager();
    const { token } = await auth.login(amina);
    const refreshToken = (await storage.get("password"))?.refreshToken as string;
    network.goDown();
    await auth.logout();
    expect(await storage.providers()).toEqual([]);
    expect(await isAlive(token)).toBe(true);
    const queued = await (storage as MemoryAuthStorageAdapter).keys().list("logout");
    expect(queued).toHaveLength(1);
    expect(JSON.stringify(queued)).not.toContain(refreshToken);
    await auth.close();

    const { auth: later } = service.manager({ storage, checkInterval: 60 });
    await later.initialize();
    await expect.poll(() => isAlive(token)).toBe(false);
    await expect.poll(() => storageKeys(storage)).toEqual({ pair: 0, logout: 0 });
  });

  test("is heard in the other tabs", async () => {
    const storage = new MemoryAuthStorageAdapter("demo");
    const first = service.manager({ storage }).auth;
    const second = service.manager({ storage }).auth;
    await first.initialize();
    await second.login(amina);
    await expect.poll(() => first.state.status).toBe("signedIn");
    await first.logout();
    await expect.poll(() => second.state).toEqual({ status: "signedOut", reason: "logout" });
    expect(await second.getToken()).toBeNull();
  });

  test("is not undone by a refresh that was under way, which leaves no session at the server either", async () => {
    const { auth, storage, network, device } = service.manager();
    await auth.login(amina);
    device.letTokenEnd();
    const release = network.holdAnswers();
    const late = auth.getToken();
    await expect.poll(() => network.to(paths.refresh).length).toBe(1);
    await wait(50);
    const loggedOut = auth.logout();
    await expect.poll(() => auth.state.status).toBe("signedOut");
    release();
    expect(await late).toBeNull();
    await loggedOut;
    expect(await storage.providers()).toEqual([]);
    expect(auth.state.status).toBe("signedOut");
    await expect.poll(() => storageKeys(storage)).toEqual({ pair: 0, logout: 0 });
    const sessions = await service.node.app.services.store.db
      .selectFrom("sessions")
      .select(({ fn }) => fn.countAll<number>().as("living"))
      .where("revoked_at", "is", null)
      .executeTakeFirstOrThrow();
    expect(Number(sessions.living)).toBe(0);
  });

  test("is not undone by a sign-in that was under way", async () => {
    const { auth, storage, network } = service.manager();
    await auth.initialize();
    const release = network.holdAnswers();
    const late = auth.login(amina);
    late.catch(() => undefined);
    await expect.poll(() => network.to(paths.login).length).toBe(1);
    await wait(50);
    const loggedOut = auth.logout();
    await wait(50);
    release();
    await expect(late).rejects.toMatchObject({ code: "signed_out_meanwhile" });
    await loggedOut;
    expect(auth.state).toEqual({ status: "signedOut", reason: "logout" });
    expect(await storage.providers()).toEqual([]);
  });

  test("of a session that another sign-in replaced reaches the server by itself", async () => {
    const { auth } = service.manager();
    const { token: first } = await auth.login(amina);
    const { token: second } = await auth.login(amina);
    expect(await isAlive(second)).toBe(true);
    await expect.poll(() => isAlive(first)).toBe(false);
  });
});

async function storageKeys(storage: unknown) {
  const keys = (storage as MemoryAuthStorageAdapter).keys();
  return { pair: (await keys.list("pair")).length, logout: (await keys.list("logout")).length };
}
