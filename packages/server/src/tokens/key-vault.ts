import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";

/** Seals the secret halves of keys under the deployment secret, each tied to its id and purpose. */
export interface KeyVault {
  /** Names the secret without revealing it. */
  readonly secretId: string;
  seal(id: string, purpose: string, plain: Uint8Array): string;
  /** Throws `KeyVaultError` where the text was not sealed under this secret, or for another id or purpose. */
  open(id: string, purpose: string, sealed: string): Uint8Array;
}

export class KeyVaultError extends Error {
  override readonly name = "KeyVaultError";
}

const ivLength = 12;
const tagLength = 16;

interface WrappingKey {
  readonly secretId: string;
  readonly key: Uint8Array;
}

function wrappingKey(secret: Uint8Array): WrappingKey {
  const derive = (info: string, length: number) => Buffer.from(hkdfSync("sha256", secret, "", info, length));
  return {
    secretId: derive("fieldgate secret id v1", 9).toString("base64url"),
    key: derive("fieldgate key wrapping v1", 32),
  };
}

const associatedData = (id: string, purpose: string) => Buffer.from(JSON.stringify(["key", id, purpose]));

/** Seals with `secret`; opens what either secret sealed, so that nodes can be restarted one by one. */
export function createKeyVault(secret: Uint8Array, previous?: Uint8Array | null): KeyVault {
  const current = wrappingKey(secret);
  const known = previous ? [current, wrappingKey(previous)] : [current];

  return {
    secretId: current.secretId,

    seal(id, purpose, plain) {
      const iv = randomBytes(ivLength);
      const cipher = createCipheriv("aes-256-gcm", current.key, iv).setAAD(associatedData(id, purpose));
      const sealed = Buffer.concat([iv, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
      return `${current.secretId}.${sealed.toString("base64url")}`;
    },

    open(id, purpose, sealed) {
      const [secretId, text] = sealed.split(".");
      const wrapping = known.find((candidate) => candidate.secretId === secretId);
      if (!wrapping || text === undefined) {
        throw new KeyVaultError(
          `The key ${id} is sealed under another secret. Start with the FIELDGATE_SECRET that this database has now: after \`secret rotate\` the new one.`,
        );
      }
      const bytes = Buffer.from(text, "base64url");
      const iv = bytes.subarray(0, ivLength);
      const decipher = createDecipheriv("aes-256-gcm", wrapping.key, iv).setAAD(associatedData(id, purpose));
      try {
        decipher.setAuthTag(bytes.subarray(-tagLength));
        return Buffer.concat([decipher.update(bytes.subarray(ivLength, -tagLength)), decipher.final()]);
      } catch (cause) {
        throw new KeyVaultError(`The key ${id} was changed in the database.`, { cause });
      }
    },
  };
}
