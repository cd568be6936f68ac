import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { createLocalJWKSet, createRemoteJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from "jose";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import {
  demoAccount,
  type IdentityProvider,
  outsiderAccount,
  type ProgramSignIn,
  signInByProgram,
  startHostedProvider,
  startRealmProvider,
} from "../src/identity-provider/index.ts";

const redirectUri = "http://localhost:9/app";
const client = { clientId: "field-app", redirectUris: [redirectUri] };
let hosted: IdentityProvider;
let realms: IdentityProvider;

beforeAll(async () => {
  [hosted, realms] = await Promise.all([
    startHostedProvider({
      clients: [client, { clientId: "service", redirectUris: [], secret: "introspection-secret" }],
    }),
    startRealmProvider({ clients: [client] }),
  ]);
});
afterAll(() => Promise.all([hosted.close(), realms.close()]));

function signIn(provider: IdentityProvider, more: Partial<ProgramSignIn> = {}) {
  const { username, password } = demoAccount;
  const [issuer = ""] = provider.issuers;
  return signInByProgram({ issuer, clientId: client.clientId, redirectUri, username, password, nonce: "n", ...more });
}

async function metadataOf(issuer: string): Promise<Record<string, string>> {
  return (await fetch(`${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`)).json() as never;
}

async function keysOf(issuer: string) {
  return createRemoteJWKSet(new URL(String((await metadataOf(issuer)).jwks_uri)));
}

describe("the hosted provider", () => {
  const organization = { organization: "org_demo" };

  test("gives an ID token of the organization, signed with RS256, by an issuer that ends with a slash", async () => {
    const [issuer = ""] = hosted.issuers;
    expect(issuer).toBe(`${hosted.authority}/`);
    const { id_token } = await signIn(hosted, { parameters: organization });
    const { payload } = await jwtVerify(id_token, await keysOf(issuer), { issuer, audience: "field-app" });
    expect(payload).toMatchObject({ sub: "hosted|wambui", name: "Wambui Kariuki", org_id: "org_demo", nonce: "n" });
    expect(decodeProtectedHeader(id_token).alg).toBe("RS256");
  });

  test("names no organization when none was asked for, and refuses who is no member", async () => {
    const { id_token } = await signIn(hosted);
    expect(decodeJwt(id_token)).not.toHaveProperty("org_id");
    const { username, password } = outsiderAccount;
    await expect(signIn(hosted, { username, password, parameters: organization })).rejects.toThrow(/access_denied/);
  });

  test("access tokens are JWTs for an audience, and opaque without one", async () => {
    const audience = "https://fieldgate.example/api";
    const { access_token } = await signIn(hosted, { parameters: { ...organization, audience } });
    expect(decodeJwt(access_token)).toMatchObject({
      aud: [audience, `${hosted.authority}/userinfo`],
      azp: "field-app",
      org_id: "org_demo",
    });
    const opaque = (await signIn(hosted, { parameters: organization })).access_token;
    expect(opaque).not.toContain(".");
    const metadata = await metadataOf(hosted.authority);
    const answer = await fetch(String(metadata.introspection_endpoint), {
      method: "POST",
      headers: { authorization: `Basic ${btoa("service:introspection-secret")}` },
      body: new URLSearchParams({ token: opaque }),
    });
    expect(await answer.json()).toMatchObject({ active: true, client_id: "field-app", org_id: "org_demo" });
  });
});

describe("the realm provider", () => {
  test("its realms are issuers of their own that share a signing key", async () => {
    const [issuer = "", other = ""] = realms.issuers;
    expect([issuer, other]).toEqual([`${realms.authority}/realms/demo`, `${realms.authority}/realms/other`]);
    const { id_token, access_token } = await signIn(realms);
    const keys = await keysOf(other);
    expect((await jwtVerify(id_token, keys, { issuer, audience: "field-app" })).payload.typ).toBe("ID");
    expect((await jwtVerify(access_token, keys, { issuer, audience: "account" })).payload).toMatchObject({
      typ: "Bearer",
      azp: "field-app",
      preferred_username: "wambui",
      realm_access: { roles: ["field-worker"] },
    });
    await expect(signIn(realms, { issuer: other })).rejects.toThrow(/do not fit together/);
  });
});

describe("what tests can do to them", () => {
  afterEach(async () => {
    hosted.beSlow(0);
    await hosted.comeUp();
  });

  async function refresh(refresh_token: string | undefined) {
    const { token_endpoint = "" } = await metadataOf(realms.issuers[0] ?? "");
    const body = { grant_type: "refresh_token", refresh_token: refresh_token ?? "", client_id: "field-app" };
    return fetch(token_endpoint, { method: "POST", body: new URLSearchParams(body) });
  }

  test("keys rotate: the old one stays published until it is dropped", async () => {
    const jwks = async () =>
      (await (await fetch(`${hosted.authority}/.well-known/jwks.json`)).json()) as Parameters<
        typeof createLocalJWKSet
      >[0];
    const before = await signIn(hosted);
    await hosted.rotateKeys();
    const after = await signIn(hosted);
    expect((await jwks()).keys).toHaveLength(2);
    expect((await jwks()).keys[0]).not.toHaveProperty("d");
    for (const { id_token } of [before, after]) await jwtVerify(id_token, createLocalJWKSet(await jwks()));
    await hosted.rotateKeys({ drop: true });
    await expect(jwtVerify(after.id_token, createLocalJWKSet(await jwks()))).rejects.toThrow(/no applicable key/);
    await jwtVerify(await hosted.sign({ anything: 1 }), createLocalJWKSet(await jwks()));
  });

  test("goes down, comes up and is slow", async () => {
    await hosted.goDown();
    await expect(fetch(hosted.authority)).rejects.toThrow();
    await hosted.comeUp();
    hosted.beSlow(300);
    const begun = performance.now();
    expect((await fetch(`${hosted.authority}/.well-known/openid-configuration`)).status).toBe(200);
    expect(performance.now() - begun).toBeGreaterThan(250);
    expect(hosted.requests.at(-1)).toBe("GET /.well-known/openid-configuration");
  });

  test("revokes a person: the refresh token dies, and the application is told", async () => {
    const told: string[] = [];
    const application = createServer(async (request, response) => {
      told.push(await text(request));
      response.writeHead(204).end();
    }).listen(0, "127.0.0.1");
    await once(application, "listening");
    const { port } = application.address() as AddressInfo;
    realms.addClient({ ...client, backchannelLogoutUri: `http://127.0.0.1:${port}/` });
    try {
      const { refresh_token, id_token } = await signIn(realms);
      const renewed = (await (await refresh(refresh_token)).json()) as { refresh_token: string };
      expect(renewed.refresh_token).toBeTruthy();
      await realms.revoke("wambui");
      expect(await (await refresh(renewed.refresh_token)).json()).toMatchObject({ error: "invalid_grant" });
      // Sessions of earlier tests are told of as well; ours is among them.
      const logouts = told.map((body) => decodeJwt(new URLSearchParams(body).get("logout_token") ?? ""));
      const { sid } = decodeJwt(id_token);
      expect(sid).toBeTruthy();
      expect(logouts.find((claims) => claims.sid === sid)).toMatchObject({ iss: realms.issuers[0], aud: "field-app" });
    } finally {
      application.close();
    }
  });
});
