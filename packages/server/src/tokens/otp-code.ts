import { macBytes, sameText } from "./mac.ts";

/** What a code is for. It is good for exactly this and nothing else. */
export interface OtpSubject {
  readonly challengeId: string;
  readonly tenantId: string;
  /** The blind index of the recipient, or the person of a second step. */
  readonly recipient: string;
  readonly purpose: OtpPurpose;
}

export type OtpPurpose = "sign-in" | "step-up";

/** The largest multiple of a million that four bytes hold: anything above would favour small codes. */
const fair = Math.floor(2 ** 32 / 1_000_000) * 1_000_000;

/** The code of a challenge: derived each time it is needed, so that it lies nowhere. */
export function otpCode(key: Uint8Array, subject: OtpSubject): string {
  const { challengeId, tenantId, recipient, purpose } = subject;
  for (let round = 0; ; round += 1) {
    const bytes = macBytes(key, "otp", challengeId, tenantId, recipient, purpose, round);
    for (let at = 0; at < bytes.length; at += 4) {
      const value = bytes.readUInt32BE(at);
      if (value < fair) return String(value % 1_000_000).padStart(6, "0");
    }
  }
}

export function isOtpCode(key: Uint8Array, subject: OtpSubject, code: string): boolean {
  return sameText(otpCode(key, subject), code);
}
