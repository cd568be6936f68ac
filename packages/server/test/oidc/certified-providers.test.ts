import { setTimeout as sleep } from "node:timers/promises";
import { routes } from "@fieldgate/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  demoAccount,
  type IdentityProvider,
  signInByProgram,
  startHostedProvider,
  startRealmProvider,
} from "../../../demo/src/identity-provider/index.ts";
import { setProviderSecret } from "../../src/people/identity-providers.ts";
import { createKeyVault } from "../../src/tokens/key-vault.ts";
import { databases } from "../kit/databases.ts";
import { testSecret } from "../kit/node.ts";
import { Programme } from "./programme.ts";

const audience = "https://fieldgate.example/api";
const redirectUri = "http://localhost:9/app";

const [sqlite] = databases;
if (!sqlite) throw new Error("There is no database.");
const database = sqlite;

describe("with certified providers", () => {
  let programme: Programme;
  let hosted: IdentityProvider;
  let realms: IdentityProvider;
  let realmIssuer: string;

  beforeAll(async () => {
    programme = await Programme.start(database);
    const backchannelLogoutUri = `${programme.node.url}${routes.backchannelLogout.path}`;
    const app = { clientId: "field-app", redirectUris: [redirectUri], backchannelLogoutUri };
    const service = { clientId: "service", redirectUris: [], secret: "introspection-secret" };
    [hosted, realms] = await Promise.all([
      startHostedProvider({ clients: [app, service] }),
      startRealmProvider({ clients: [app] }),
    ]);
    [realmIssuer = ""] = realms.issuers;
    const fields = { client_id: "field-app" };
    const oidcA = { ...fields, authority: hosted.authority, organization: "org_demo", audience };
    await programme.node.addTenant("hosted", {
      adapters: [{ type: "oidc_a", fields: oidcA }],
      identityProviders: { oidc_a: { introspectionClient: "service" } },
    });
    const oidcB = { ...fields, authority: realms.authority, realm: realmIssuer.split("/").at(-1) };
    await programme.node.addTenant("realm", { adapters: [{ type: "oidc_b", fields: oidcB }] });
    const vault = createKeyVault(testSecret);
    const { store } = programme.node.app.services;
    await store.transaction((tx) =>
      setProviderSecret(tx, vault, { tenantId: "hosted", type: "oidc_a" }, "introspection-secret"),
    );
  });
  afterAll(async () => {
    await Promise.all([hosted?.close(), realms?.close()]);
    await programme?.close();
  });

  async function signIn(tenantId: "hosted" | "realm", nonce: string, parameters: Record<string, string> = {}) {
    const { username, password } = demoAccount;
    const [hostedIssuer = ""] = hosted.issuers;
    const issuer = tenantId === "hosted" ? hostedIssuer : realmIssuer;
    const organization = tenantId === "hosted" ? { organization: "org_demo" } : {};
    const person = { issuer, clientId: "field-app", redirectUri, username, password };
    return signInByProgram({ ...person, nonce, parameters: { ...organization, ...parameters } });
  }

  test.each([
    ["hosted", "oidc_a"],
    ["realm", "oidc_b"],
  ] as const)(
    "a worker of %s signs in, calls with the provider's token too, and is logged out there",
    async (tenantId, type) => {
      const { api } = programme.node;
      const begun = await programme.begin();
      const { id_token, access_token } = await signIn(tenantId, begun.nonce, tenantId === "hosted" ? { audience } : {});
      const answer = await programme.exchange(tenantId, id_token, { begun, type });
      expect(answer.status, answer.text).toBe(200);
      const { token, userId, username } = answer.body;
      expect(username).toBe("Wambui Kariuki");
      expect((await api.me(access_token)).body).toMatchObject({ userId, tenantId, provider: type });
      expect((await api.checkToken(id_token)).body.code).toBe("invalid_token");

      await (tenantId === "hosted" ? hosted : realms).revoke(demoAccount.username);
      const deadline = performance.now() + 10_000;
      while ((await api.checkToken(token)).status === 200 && performance.now() < deadline) await sleep(50);
      expect((await api.checkToken(token)).body.code).toBe("session_revoked");
      expect((await api.checkToken(access_token)).body.code).toBe("session_revoked");
    },
  );

  test("an opaque token is asked about", async () => {
    const { access_token } = await signIn("hosted", "n");
    expect(access_token).not.toContain(".");
    const headers = { "x-tenant-id": "hosted" };
    const answer = await programme.node.api.call<Record<string, unknown>>(routes.checkToken, {
      token: access_token,
      headers,
    });
    expect(answer.body).toMatchObject({ valid: true, tenantId: "hosted", provider: "oidc_a" });
  });
});
