import { createHash, createPrivateKey, generateKeyPair, sign } from "node:crypto";
import { promisify } from "node:util";
import type { JWK } from "oidc-provider";

const generate = promisify(generateKeyPair);

/** RSA keys for RS256; the first one signs, the others are still published. Several issuers may share a keyring. */
export interface Keyring {
  /** Private keys, the newest first. */
  keys(): Promise<readonly JWK[]>;
  /** Makes a new key; the old ones stay published unless they are dropped. */
  rotate(options?: { readonly drop?: boolean }): Promise<void>;
  /** Signs any claims with the newest key, also ones that no provider would give: for tests of who believes them. */
  sign(claims: object, header?: object): Promise<string>;
}

async function generateKey(): Promise<JWK> {
  const { privateKey } = await generate("rsa", { modulusLength: 2048 });
  const jwk: JWK = privateKey.export({ format: "jwk" }) as JWK;
  const kid = createHash("sha256").update(String(jwk.n)).digest("base64url").slice(0, 16);
  return { ...jwk, kid, use: "sig", alg: "RS256" };
}

export function createKeyring(): Keyring {
  // Made at the first use: it takes a moment, and the demo should start at once.
  let keys: Promise<readonly JWK[]> | undefined;

  function current(): Promise<readonly JWK[]> {
    keys ??= generateKey().then((key) => [key]);
    return keys;
  }

  return {
    keys: current,
    async rotate({ drop = false } = {}) {
      const [old, key] = await Promise.all([current(), generateKey()]);
      keys = Promise.resolve([key, ...(drop ? [] : old)]);
    },
    async sign(claims, header = {}) {
      const [key] = await current();
      const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
      const signed = `${encode({ alg: "RS256", typ: "JWT", kid: key?.kid, ...header })}.${encode(claims)}`;
      const privateKey = createPrivateKey({ key: key as Record<string, unknown>, format: "jwk" });
      return `${signed}.${sign("sha256", Buffer.from(signed), privateKey).toString("base64url")}`;
    },
  };
}
