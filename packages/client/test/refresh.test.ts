import { describe, expect, test } from "vitest";
import { MemoryAuthStorageAdapter } from "../src/storage/memory.ts";
import type { StoredSession } from "../src/storage/storage.ts";
import { FaultyNetwork, paths } from "./kit/faulty-network.ts";
import { amina, Device, useService, wait } from "./kit/service.ts";

const counterOf = (session: StoredSession | null) => Number(session?.refreshToken?.split(".")[1]);

describe("a session of a short-lived token is renewed", () => {
  const service = useService({ workerAccess: 2 });

  test("before the token ends, with a proof, and stored before it is used", async () => {
    const { auth, storage, network } = service.manager();
    const { token } = await auth.login(amina);
    await wait(1600);
    const renewed = await auth.getToken();
    expect(renewed).not.toBe(token);
    expect((await storage.get("password"))?.token).toBe(renewed);
    expect(counterOf(await storage.get("password"))).toBe(1);
    expect(network.to(paths.refresh).at(-1)?.headers.get("DPoP")).toBeTruthy();
    expect(auth.state.status).toBe("signedIn");
  });

  test("after a restart, from what is stored", async () => {
    const { auth, storage } = service.manager();
    await auth.login(amina);
    await auth.close();
    await wait(2100);
    const { auth: later } = service.manager({ storage });
    await later.initialize();
    expect(later.state).toEqual({ status: "signedIn", provider: "password", username: "amina" });
    expect(await later.getToken()).toBeTruthy();
    expect(counterOf(await storage.get("password"))).toBe(1);
  });

  test("and nothing worse happens when the storage is further back than that", async () => {
    const { auth, storage } = service.manager();
    await auth.login(amina);
    const old = (await storage.get("password")) as StoredSession;
    for (let round = 0; round < 2; round++) {
      await wait(2100);
      await auth.getToken();
    }
    const newest = (await storage.get("password")) as StoredSession;
    await wait(2100);
    await storage.put("password", old);
    const { auth: later } = service.manager({ storage });
    await expect(later.getToken()).rejects.toMatchObject({ code: "refresh_superseded", status: 409 });
    expect(await later.isAuthenticated()).toBe(true);
    await storage.put("password", newest);
    await wait(250);
    expect(await later.getToken()).toBeTruthy();
  });
});

describe("a session is renewed", () => {
  const service = useService();

  test("once for many callers", async () => {
    const { auth, storage, device } = service.manager();
    await auth.login(amina);
    device.letTokenEnd();
    const tokens = await Promise.all(Array.from({ length: 20 }, () => auth.getToken()));
    expect(new Set(tokens).size).toBe(1);
    expect(counterOf(await storage.get("password"))).toBe(1);
  });

  test("once for several managers of one storage, and all have it", async () => {
    const storage = new MemoryAuthStorageAdapter("demo");
    const device = new Device();
    const managers = Array.from({ length: 4 }, () => service.manager({ storage, device }).auth);
    await managers[0]?.login(amina);
    device.letTokenEnd();
    const tokens = await Promise.all(managers.map((auth) => auth.getToken()));
    expect(new Set(tokens).size).toBe(1);
    expect(counterOf(await storage.get("password"))).toBe(1);
    for (const auth of managers) expect(auth.state.status).toBe("signedIn");
  });

  test("although its answer is lost, again and again", async () => {
    const { auth, storage, network, device } = service.manager();
    await auth.login(amina);
    for (let round = 0; round < 3; round++) {
      device.letTokenEnd();
      network.fate = (path) => (path === paths.refresh ? "lose-answer" : "deliver");
      await expect(auth.getToken()).rejects.toMatchObject({ code: "unreachable" });
      expect(auth.state.status).toBe("offlineGrace");
      expect(await auth.isAuthenticated()).toBe(true);
      network.comeBack();
      await wait(250);
      expect(await auth.getToken()).toBeTruthy();
      expect(auth.state.status).toBe("signedIn");
    }
    expect(counterOf(await storage.get("password"))).toBe(3);
  });

  test("within one call where only the first answer is lost", async () => {
    const { auth, network, device } = service.manager();
    await auth.login(amina);
    device.letTokenEnd();
    let lost = 0;
    network.fate = (path) => (path === paths.refresh && lost++ === 0 ? "lose-answer" : "deliver");
    expect(await auth.getToken()).toBeTruthy();
    expect(auth.state.status).toBe("signedIn");
  });

  test("on a device whose clock is a day behind, or a day ahead", async () => {
    for (const offset of [-86_400_000, 86_400_000]) {
      const storage = new MemoryAuthStorageAdapter("demo");
      const device = new Device();
      device.offset = offset;
      const { auth } = service.manager({ storage, device });
      await auth.login(amina);
      expect(await auth.getToken()).toBeTruthy();
      expect(counterOf(await storage.get("password"))).toBe(0);
      device.letTokenEnd();
      expect(await auth.getToken()).toBeTruthy();
      expect(counterOf(await storage.get("password"))).toBe(1);
    }
  });

  test("on a device whose clock is set by a day while it runs, and while it does not", async () => {
    const storage = new MemoryAuthStorageAdapter("demo");
    const { auth, device } = service.manager({ storage });
    await auth.login(amina);
    for (const offset of [86_400_000, 0, -86_400_000]) {
      device.offset = offset;
      expect(await auth.getToken()).toBeTruthy();
      expect(auth.state.status).toBe("signedIn");
    }
    device.offset = 2 * 86_400_000;
    const restarted = service.manager({ storage, device }).auth;
    expect(await restarted.getToken()).toBeTruthy();
    expect(restarted.state.status).toBe("signedIn");
  });

  test("after a crash between the server's answer and the storage", async () => {
    const { auth, storage, device } = service.manager();
    await auth.login(amina);
    const before = await storage.get("password");
    device.letTokenEnd();
    await auth.getToken();
    // The storage as it was when the tab was killed.
    await storage.put("password", before as StoredSession);
    const { auth: later } = service.manager({ storage, device });
    expect(await later.getToken()).toBeTruthy();
    expect(counterOf(await storage.get("password"))).toBe(1);
    expect(later.state.status).toBe("signedIn");
  });

  test("in the storage's place of the token it presented, or not at all", async () => {
    const storage = new MemoryAuthStorageAdapter("demo");
    const { auth, network, device } = service.manager({ storage });
    await auth.login(amina);
    device.letTokenEnd();
    const release = network.holdAnswers();
    const late = auth.getToken();
    await wait(100);
    // Another tab signs in anew while the answer is under way.
    const other = service.manager({ storage });
    const { token } = await other.auth.login(amina);
    release();
    expect(await late).toBe(token);
    expect((await storage.get("password"))?.token).toBe(token);
  });

  test("not where 429 and 5xx answer, and nobody is signed out by them", async () => {
    const { auth, storage, network, device } = service.manager();
    await auth.login(amina);
    const before = await storage.get("password");
    device.letTokenEnd();
    const problem = (code: string) => ({ code, detail: code });
    const answers = [
      { status: 429, body: problem("too_many_attempts"), headers: { "Retry-After": "1" } },
      { status: 503, body: problem("unavailable"), headers: { "Retry-After": "1" } },
      { status: 500, body: problem("internal") },
      { status: 502, body: "<html>Bad gateway</html>" },
      { status: 401, body: "<html>Proxy: authentication required</html>" },
      { status: 401, body: { code: "unauthorized" } },
      { status: 400, body: problem("invalid_dpop_proof") },
      { status: 403, body: { error: "nope" } },
      { status: 200, body: {} },
      { status: 200, body: [] },
      "portal",
    ] as const;
    for (const answer of answers) {
      network.fate = () => answer;
      await expect(auth.getToken(), JSON.stringify(answer)).rejects.toThrow();
      expect(auth.state.status).toBe("offlineGrace");
      expect(await storage.get("password")).toEqual(before);
      network.comeBack();
      await wait(typeof answer === "object" && "headers" in answer ? 1100 : 250);
    }
    expect(await auth.getToken()).toBeTruthy();
  });

  test("no more when the server's word is that it ended, and that word is remembered", async () => {
    const { auth, storage, device } = service.manager();
    await auth.login(amina);
    const stored = await storage.get("password");
    await service.node.api.logout({ body: { refreshToken: stored?.refreshToken } });
    device.letTokenEnd();
    expect(await auth.getToken()).toBeNull();
    expect(auth.state).toMatchObject({ status: "expired", username: "amina", reason: "session_revoked" });
    expect(await auth.isAuthenticated()).toBe(false);
    expect(await storage.get("password")).toMatchObject({ token: "", ended: "session_revoked" });
    expect(JSON.stringify(await storage.get("password"))).not.toContain("refreshToken");
    const { auth: later } = service.manager({ storage, device });
    await later.initialize();
    expect(later.state).toMatchObject({ status: "expired", reason: "session_revoked" });
    await later.login(amina);
    expect(later.state.status).toBe("signedIn");
  });

  test("an ending that comes late does not end a newer sign-in", async () => {
    const storage = new MemoryAuthStorageAdapter("demo");
    const { auth, network, device } = service.manager({ storage });
    await auth.login(amina);
    const stored = await storage.get("password");
    await service.node.api.logout({ body: { refreshToken: stored?.refreshToken } });
    device.letTokenEnd();
    const release = network.holdAnswers();
    const late = auth.getToken();
    await wait(100);
    const other = service.manager({ storage });
    const { token } = await other.auth.login(amina);
    release();
    expect(await late).toBe(token);
    expect(auth.state.status).toBe("signedIn");
    expect((await storage.get("password"))?.token).toBe(token);
  });

  test("a copied refresh token is worth nothing without the key", async () => {
    const { auth, storage, device } = service.manager();
    await auth.login(amina);
    const stolen = (await storage.get("password"))?.refreshToken as string;
    const answer = await service.node.api.refresh(stolen);
    expect(answer.status).toBe(400);
    expect(answer.body.code).toBe("invalid_dpop_proof");
    device.letTokenEnd();
    expect(await auth.getToken()).toBeTruthy();
  });

  test("a storage that cannot be written to does not cost the session", async () => {
    class Full extends MemoryAuthStorageAdapter {
      full = false;
      override async replace(...args: Parameters<MemoryAuthStorageAdapter["replace"]>) {
        if (this.full) throw new Error("The disk is full.");
        return super.replace(...args);
      }
    }
    const storage = new Full("demo");
    const { auth, device } = service.manager({ storage });
    const warnings: unknown[] = [];
    auth.subscribe((_, event) => {
      if (event?.type === "warning") warnings.push(event.about);
    });
    await auth.login(amina);
    storage.full = true;
    for (let round = 0; round < 3; round++) {
      device.letTokenEnd();
      expect(await auth.getToken()).toBeTruthy();
    }
    expect(warnings).toContain("storage");
    expect(counterOf(await storage.get("password"))).toBe(0);
    storage.full = false;
    device.letTokenEnd();
    expect(await auth.getToken()).toBeTruthy();
    expect(counterOf(await storage.get("password"))).toBe(1);
  });

  test("a key that is gone from the device ends it for this device, and says so", async () => {
    const { auth, storage, device } = service.manager();
    await auth.login(amina);
    const network = new FaultyNetwork();
    const { auth: elsewhere } = service.manager({
      storage: Object.assign(new MemoryAuthStorageAdapter("demo"), {
        get: (provider: string) => storage.get(provider),
        providers: () => storage.providers(),
      }),
      network,
      device,
    });
    device.letTokenEnd();
    expect(await elsewhere.getToken()).toBeNull();
    expect(elsewhere.state).toMatchObject({ status: "expired", reason: "key_lost" });
    expect(network.to(paths.refresh)).toEqual([]);
  });
});
