import { describe, expect, test } from "vitest";
import type { AuthState } from "../src/auth-state.ts";
import { paths } from "./kit/faulty-network.ts";
import { amina, useService } from "./kit/service.ts";

describe("a worker signs in with username and password", () => {
  const service = useService();

  test("and has a token, a stored session and a state that told each step", async () => {
    const { auth, storage, network } = service.manager();
    const states: AuthState["status"][] = [];
    const stop = auth.subscribe((state) => states.push(state.status));
    const { username, token } = await auth.login(amina);
    stop();
    expect(username).toBe("amina");
    expect(states).toEqual(["uninitialized", "signedOut", "signingIn", "signedIn"]);
    expect(auth.state).toEqual({ status: "signedIn", provider: "password", username: "amina" });
    expect(await auth.getToken()).toBe(token);
    expect(await auth.isAuthenticated()).toBe(true);
    expect(await auth.getCurrentUser()).toMatchObject({ username: "amina", tenantId: "demo", kind: "field-worker" });
    const stored = await storage.get("password");
    expect(stored).toMatchObject({ provider: "password", username: "amina", token, server: service.url });
    expect(stored?.refreshToken).toBeTruthy();
    expect(stored?.keyId).toBeTruthy();
    expect(network.to(paths.login)[0]?.body).toEqual({ ...amina, tenantId: "demo" });
    // The token was given a moment ago: nobody asks whether it is valid.
    expect(network.to(paths.check)).toEqual([]);
  });
});
