import { Fault } from "../fault.ts";
import type { BirthDate } from "../people/birth-date.ts";
import { parseCardDate } from "./card-date.ts";
import { type CoseSign1, cardFingerprint, parseCoseSign1 } from "./cose-sign1.ts";
import { type CardClaims, parseCardClaims } from "./cwt.ts";
import type { TrustEntry } from "./trust.ts";
import { unpackQr } from "./unpack.ts";
import { importIssuerKey, isSignedBy } from "./verify-signature.ts";

/** A card taken apart; nothing of it is proven. */
export interface ReadCard {
  readonly message: CoseSign1;
  readonly claims: CardClaims;
  readonly fingerprint: string;
}

/** A card that an issuer of the tenant's trust list signed and that is good now. */
export interface VerifiedCard {
  readonly issuer: TrustEntry;
  /** The number by which the person is found. */
  readonly subject: string;
  readonly birth: BirthDate | null;
  readonly fingerprint: string;
}

/** Steps 1 to 8 of `shared/QR.md` order: form, size, encodings, structure. */
export function readCard(text: string): ReadCard {
  const message = parseCoseSign1(unpackQr(text));
  return { message, claims: parseCardClaims(message.payload), fingerprint: cardFingerprint(message) };
}

const skewMs = 300_000;
const mostKeysWithoutKid = 8;
const attribute = { id: 1, birth: 8 } as const;

/** Signature, times and subject, against the trust list of one tenant. Whatever is wrong is the same `qr_invalid`. */
export function verifyCard(card: ReadCard, trusted: readonly TrustEntry[], now: number): VerifiedCard {
  const { message, claims, fingerprint } = card;
  const issuer = candidates(card, trusted).find((entry) => {
    const key = importIssuerKey(entry.alg, entry.jwk);
    return key !== null && isSignedBy(message, key);
  });
  if (!issuer) throw invalid("no trusted key signed it");
  demandTimes(claims, issuer, now);
  const { subject: place = "id", dateOrder = "YMD" } = issuer.options;
  const subject = place === "sub" ? claims.sub : claims.attributes.get(attribute.id);
  if (typeof subject !== "string" || subject === "") throw invalid("no subject");
  const date = claims.attributes.get(attribute.birth);
  const birth = date === undefined ? null : parseCardDate(date, dateOrder);
  if (date !== undefined && !birth) throw invalid("date of birth unreadable");
  return { issuer, subject, birth, fingerprint };
}

/** By issuer, algorithm and key name; without a name, the issuer's active keys of that algorithm. */
function candidates({ message, claims }: ReadCard, trusted: readonly TrustEntry[]): TrustEntry[] {
  const { kid, algorithm } = message;
  const ofIssuer = trusted.filter(
    (entry) => entry.iss === claims.iss && entry.alg === algorithm && entry.state !== "compromised",
  );
  if (kid === null) return ofIssuer.filter((entry) => entry.state === "active").slice(0, mostKeysWithoutKid);
  const bytes = Buffer.from(kid);
  const names = [bytes.toString("utf8"), bytes.toString("hex"), bytes.toString("base64url")];
  return ofIssuer.filter((entry) => names.includes(entry.kid));
}

function demandTimes({ exp, nbf, iat }: CardClaims, issuer: TrustEntry, now: number): void {
  const ms = (seconds: number) => seconds * 1000;
  if (nbf !== null && ms(nbf) > now + skewMs) throw invalid("not yet valid");
  if (iat !== null && ms(iat) > now + skewMs) throw invalid("issued in the future");
  const { maxAge } = issuer.options;
  const end = exp ?? (maxAge !== undefined && iat !== null ? iat + maxAge : null);
  if (end === null) throw invalid("no end");
  if (ms(end) <= now - skewMs) throw invalid("expired");

  // A key speaks for what was signed while it was in use; a card that does not say when must be judged by today.
  const signedAt = iat === null ? now : ms(iat);
  if (issuer.notBefore !== null && signedAt < issuer.notBefore) throw invalid("key not yet in use");
  if (issuer.notAfter !== null && signedAt > issuer.notAfter) throw invalid("key no longer in use");
  if (issuer.state === "retired" && (iat === null || issuer.retiredAt === null || signedAt >= issuer.retiredAt)) {
    throw invalid("key retired before");
  }
}

function invalid(detail: string): Fault {
  return new Fault("qr_invalid", { detail });
}
