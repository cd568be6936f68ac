import { EntityDataError } from "../errors.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const ivLength = 12;

/** Seals and opens what one owner has on this device. */
export interface Cipher {
  readonly owner: string;
  /** `place` names where the sealed text lies: it opens nowhere else. */
  seal(place: string, value: unknown): Promise<Uint8Array<ArrayBuffer>>;
  open<T>(place: string, sealed: Uint8Array<ArrayBuffer>): Promise<T>;
}

/** AES-256-GCM with a random nonce in front. */
export function createCipher(owner: string, key: CryptoKey): Cipher {
  const algorithm = (place: string, iv: Uint8Array<ArrayBuffer>) => ({
    name: "AES-GCM",
    iv,
    additionalData: encoder.encode(`${owner} ${place}`),
  });
  return {
    owner,
    async seal(place, value) {
      const iv = crypto.getRandomValues(new Uint8Array(ivLength));
      const sealed = await crypto.subtle.encrypt(algorithm(place, iv), key, encoder.encode(JSON.stringify(value)));
      const whole = new Uint8Array(ivLength + sealed.byteLength);
      whole.set(iv);
      whole.set(new Uint8Array(sealed), ivLength);
      return whole;
    },
    async open(place, sealed) {
      try {
        const iv = sealed.slice(0, ivLength);
        const plain = await crypto.subtle.decrypt(algorithm(place, iv), key, sealed.subarray(ivLength));
        return JSON.parse(decoder.decode(plain));
      } catch (cause) {
        throw new EntityDataError("unreadable", `The ${place} on this device was changed, or another's.`, { cause });
      }
    },
  };
}
