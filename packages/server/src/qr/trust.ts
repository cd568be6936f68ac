import type { JsonWebKey } from "node:crypto";
import type { DateOrder } from "./card-date.ts";
import type { QrAlgorithm } from "./cose-sign1.ts";

/** A key that a tenant trusts to sign cards. Instants are milliseconds. */
export interface TrustEntry {
  readonly id: string;
  readonly iss: string;
  /** Empty where the issuer's cards name no key. */
  readonly kid: string;
  readonly alg: QrAlgorithm;
  readonly jwk: JsonWebKey;
  readonly options: TrustOptions;
  /** Retired verifies cards issued before it retired; compromised verifies nothing. */
  readonly state: "active" | "retired" | "compromised";
  readonly notBefore: number | null;
  readonly notAfter: number | null;
  readonly retiredAt: number | null;
  /** The tenant's own programme cards, whose number is looked up among the cards. */
  readonly own: boolean;
}

/** What of the standard an issuer bends. */
export interface TrustOptions {
  /** Where the person's number is: attribute 1, or the CWT's `sub`. */
  readonly subject?: "id" | "sub";
  /** What that number is to us. */
  readonly identifies?: "national_id" | "external_id";
  readonly dateOrder?: DateOrder;
  /** Seconds from `iat` for which cards without `exp` are good; without it such cards are refused. */
  readonly maxAge?: number;
}
