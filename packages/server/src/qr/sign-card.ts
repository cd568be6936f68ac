import { type KeyObject, sign } from "node:crypto";
import { deflateSync } from "node:zlib";
import { encode, Tag } from "cbor2";
import { encodeBase45 } from "./base45.ts";
import { cardFingerprint } from "./cose-sign1.ts";
import { signedBytes } from "./verify-signature.ts";

export interface ProgrammeCard {
  readonly iss: string;
  readonly kid: string;
  /** Random; the only thing on the card that leads to a person, and only through our records. */
  readonly number: string;
  /** Seconds. */
  readonly issuedAt: number;
  readonly expiresAt: number;
}

/** The text of a programme's own card, Ed25519-signed, and the fingerprint by which it can be revoked. */
export function signCard(card: ProgrammeCard, key: KeyObject): { readonly text: string; readonly fingerprint: string } {
  const protectedHeader = encode(
    new Map<number, unknown>([
      [1, -8],
      [4, new Uint8Array(Buffer.from(card.kid))],
    ]),
  );
  const payload = encode(
    new Map<number, unknown>([
      [1, card.iss],
      [4, card.expiresAt],
      [6, card.issuedAt],
      [7, new Uint8Array(Buffer.from(card.number))],
      [169, new Map([[1, card.number]])],
    ]),
  );
  const signature = new Uint8Array(sign(null, signedBytes({ protectedHeader, payload }), key));
  const message = encode(new Tag(18, [protectedHeader, new Map(), payload, signature]));
  const fingerprint = cardFingerprint({ algorithm: "EdDSA", kid: null, protectedHeader, payload, signature });
  return { text: encodeBase45(deflateSync(message, { level: 9 })), fingerprint };
}
