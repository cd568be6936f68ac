import { describe, expect, test } from "vitest";
import { NetworkError } from "../src/errors.ts";
import { paths } from "./kit/faulty-network.ts";
import { amina, useService, wait } from "./kit/service.ts";

const day = 86_400_000;

describe("while the server is away", () => {
  const service = useService();

  test("initialize succeeds, and a stored session counts", async () => {
    const { auth, storage, network } = service.manager();
    const { token } = await auth.login(amina);
    const { auth: later, network: away } = service.manager({ storage, network, checkInterval: 60 });
    away.goDown();
    await later.initialize();
    expect(await later.isAuthenticated()).toBe(true);
    expect(await later.getToken()).toBe(token);
    await expect.poll(() => later.state).toMatchObject({ status: "offlineGrace", username: "amina" });
  });

  test("a token whose verdict is old is still given out, once it was tried to renew the verdict", async () => {
    const { auth, network, device } = service.manager();
    const { token } = await auth.login(amina);
    device.offset += 61_000;
    expect(await auth.getToken()).toBe(token);
    expect(network.to(paths.check)).toHaveLength(1);
    expect(await auth.getToken()).toBe(token);
    expect(network.to(paths.check)).toHaveLength(1);
    device.offset += 61_000;
    network.goDown();
    expect(await auth.getToken()).toBe(token);
    expect(network.to(paths.check)).toHaveLength(2);
    expect(auth.state).toMatchObject({ status: "offlineGrace" });
    network.comeBack();
    await wait(250);
    expect(await auth.getToken()).toBe(token);
    expect(auth.state.status).toBe("signedIn");
  });

  test("a worker counts as signed in for the grace, and is known again when the server is back", async () => {
    const { auth, network, device, storage } = service.manager({ offlineGrace: 10 * 86_400 });
    await auth.login(amina);
    network.goDown();
    device.offset += 9 * day;
    await expect(auth.getToken()).rejects.toBeInstanceOf(NetworkError);
    expect(auth.state.status).toBe("offlineGrace");
    expect(await auth.isAuthenticated()).toBe(true);
    device.offset += 2 * day;
    expect(await auth.isAuthenticated()).toBe(false);
    expect(auth.state).toMatchObject({ status: "expired", reason: "grace_over", username: "amina" });
    expect(await auth.getToken()).toBeNull();
    // Our clock may have been wrong: nothing is thrown away.
    expect((await storage.get("password"))?.refreshToken).toBeTruthy();
    network.comeBack();
    await wait(250);
    expect(await auth.getToken()).toBeTruthy();
    expect(auth.state.status).toBe("signedIn");
  });

  test("checks go on by themselves until it is back", async () => {
    const { auth, network } = service.manager({ checkInterval: 0.3, verdictAge: 0 });
    await auth.login(amina);
    await expect.poll(() => network.to(paths.check).length).toBeGreaterThan(2);
    network.goDown();
    await expect.poll(() => auth.state.status).toBe("offlineGrace");
    network.comeBack();
    await expect.poll(() => auth.state.status, { timeout: 5000 }).toBe("signedIn");
    await auth.close();
    const { length } = network.seen;
    await wait(800);
    expect(network.seen).toHaveLength(length);
  });

  test("a sign-in fails with a typed error and leaves everything as it was", async () => {
    const { auth, network, storage } = service.manager();
    await auth.initialize();
    network.goDown();
    await expect(auth.login(amina)).rejects.toBeInstanceOf(NetworkError);
    expect(auth.state).toEqual({ status: "signedOut", reason: "never" });
    expect(await storage.providers()).toEqual([]);
  });
});

describe("a server that is stopped and started again", () => {
  const service = useService();

  test("finds its workers signed in", async () => {
    const { auth, device } = service.manager({ timeout: 3 });
    const { token } = await auth.login(amina);
    await service.stop();
    device.offset += 61_000;
    expect(await auth.getToken()).toBe(token);
    expect(auth.state.status).toBe("offlineGrace");
    device.letTokenEnd();
    await expect(auth.getToken()).rejects.toBeInstanceOf(NetworkError);
    await service.restart();
    await wait(250);
    const renewed = await auth.getToken();
    expect(renewed).not.toBe(token);
    expect(auth.state.status).toBe("signedIn");
    expect(await auth.getCurrentUser()).toMatchObject({ username: "amina" });
  });

  test("an answer that does not come is waited for so long and no longer", async () => {
    const hang: typeof fetch = (_input, init) =>
      new Promise((_, reject) => init?.signal?.addEventListener("abort", () => reject(init.signal?.reason)));
    const { auth } = service.manager({ timeout: 0.2, fetch: hang });
    const began = performance.now();
    await expect(auth.login(amina)).rejects.toMatchObject({ code: "unreachable", cause: { name: "TimeoutError" } });
    expect(performance.now() - began).toBeLessThan(5000);
  });
});
