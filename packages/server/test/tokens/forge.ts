import { createHmac, createPrivateKey, type KeyObject, sign } from "node:crypto";
import { createKeyVault } from "../../src/tokens/key-vault.ts";
import { listKeys, loadSecretKey } from "../../src/tokens/keys.ts";
import type { TestNode } from "../kit/node.ts";

export type Members = Readonly<Record<string, unknown>>;

export const base64url = (bytes: string | Uint8Array): string => Buffer.from(bytes).toString("base64url");

const asText = (part: Members | string): string => (typeof part === "string" ? part : JSON.stringify(part));

/** A compact JWS over any header and payload, also ones that no library would sign. A string is taken as it is. */
export function compact(
  header: Members | string,
  payload: Members | string,
  seal: (input: Buffer) => Uint8Array,
): string {
  const input = `${base64url(asText(header))}.${base64url(asText(payload))}`;
  return `${input}.${base64url(seal(Buffer.from(input)))}`;
}

export const es256 = (key: KeyObject) => (input: Buffer) => sign("sha256", input, { key, dsaEncoding: "ieee-p1363" });

export const hs256 = (secret: string | Uint8Array) => (input: Buffer) =>
  createHmac("sha256", secret).update(input).digest();

export const unsigned = () => new Uint8Array();

/** The parts of a genuine token. */
export function takeApart(token: string) {
  const [header = "", payload = "", signature = ""] = token.split(".");
  const read = (part: string) => JSON.parse(Buffer.from(part, "base64url").toString()) as Record<string, unknown>;
  return { header: read(header), claims: read(payload), parts: { header, payload, signature } };
}

/** The node's own signing key: what an attacker never has, so that only the fault in question can refuse the token. */
export async function openSigningKey(node: TestNode, kid: string): Promise<KeyObject> {
  const { store, config } = node.app.services;
  const pkcs8 = await loadSecretKey(store, createKeyVault(config.secret), kid);
  return createPrivateKey({ key: Buffer.from(pkcs8), format: "der", type: "pkcs8" });
}

export async function publicJwk(node: TestNode, kid: string) {
  const key = (await listKeys(node.app.services.store)).find(({ id }) => id === kid);
  if (!key?.publicJwk) throw new Error(`There is no public key ${kid}.`);
  return key.publicJwk;
}
