import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { createKeyVault, KeyVaultError } from "./key-vault.ts";

const secret = randomBytes(32);
const plain = randomBytes(48);

test("opens what it sealed, and seals each time differently", () => {
  const vault = createKeyVault(secret);
  const sealed = vault.seal("k1", "access", plain);
  expect(Buffer.from(vault.open("k1", "access", sealed))).toEqual(plain);
  expect(vault.seal("k1", "access", plain)).not.toBe(sealed);
});

test("a key cannot take the place of another, nor serve another purpose", () => {
  const vault = createKeyVault(secret);
  const sealed = vault.seal("k1", "access", plain);
  expect(() => vault.open("k2", "access", sealed)).toThrow(KeyVaultError);
  expect(() => vault.open("k1", "refresh", sealed)).toThrow(KeyVaultError);
});

test("finds every changed byte", () => {
  const vault = createKeyVault(secret);
  const sealed = vault.seal("k1", "access", plain);
  const [secretId = "", text = ""] = sealed.split(".");
  const bytes = Buffer.from(text, "base64url");
  for (let index = 0; index < bytes.length; index += 1) {
    const changed = Buffer.from(bytes);
    changed.writeUInt8(changed.readUInt8(index) ^ 1, index);
    expect(() => vault.open("k1", "access", `${secretId}.${changed.toString("base64url")}`)).toThrow(KeyVaultError);
  }
});

test("names the variable when the secret is another one", () => {
  const sealed = createKeyVault(secret).seal("k1", "access", plain);
  expect(() => createKeyVault(randomBytes(32)).open("k1", "access", sealed)).toThrow(/FIELDGATE_SECRET/);
});

test("while a secret is being replaced, both open and the new one seals", () => {
  const old = createKeyVault(secret);
  const next = createKeyVault(randomBytes(32), secret);
  expect(Buffer.from(next.open("k1", "access", old.seal("k1", "access", plain)))).toEqual(plain);
  expect(() => old.open("k1", "access", next.seal("k1", "access", plain))).toThrow(KeyVaultError);
});
