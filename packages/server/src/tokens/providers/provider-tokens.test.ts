import { generateKeyPairSync, sign } from "node:crypto";
import { createLocalJWKSet } from "jose";
import { expect, test } from "vitest";
import { systemClock } from "../../clock.ts";
import type { ProviderKeys } from "./provider-keys.ts";
import { createProviderTokens, type ProviderRules } from "./provider-tokens.ts";

const issuer = "https://id.example.org";
const rules = {
  type: "oidc_b" as const,
  issuer,
  clientId: "app",
  organization: "",
  audience: null,
} satisfies ProviderRules;
const base64url = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");

function tokenBy(bits: number) {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: bits });
  const iat = Math.floor(Date.now() / 1000);
  const claims = { iss: issuer, sub: "amina", azp: "app", typ: "Bearer", iat, exp: iat + 60 };
  const text = `${base64url({ alg: "RS256", kid: "k" })}.${base64url(claims)}`;
  const getKey = createLocalJWKSet({ keys: [{ ...publicKey.export({ format: "jwk" }), kty: "RSA", kid: "k" }] });
  const keys: ProviderKeys = {
    metadata: async () => ({ issuer, introspectionEndpoint: null }),
    keyFor: (_source, header) => getKey(header),
  };
  const token = `${text}.${sign("sha256", Buffer.from(text), privateKey).toString("base64url")}`;
  return createProviderTokens(keys, systemClock).accessToken([rules], token);
}

test("a key that is too weak to prove anything proves nothing, and is no error of ours", async () => {
  await expect(tokenBy(2048)).resolves.toMatchObject({ claims: { sub: "amina" } });
  await expect(tokenBy(1024)).rejects.toMatchObject({ code: "invalid_token" });
});
