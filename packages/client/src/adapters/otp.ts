import type { Claims } from "../encoding.ts";
import type { AdapterConfig, AdapterContext, SignedIn } from "./adapter.ts";
import { isCitizensToken, otpVerifyPath, signCitizenIn } from "./citizen-sign-in.ts";
import { ServerAuthAdapter } from "./server-adapter.ts";

export { isCitizensToken, otpVerifyPath, SelectionRequiredError, signCitizenIn } from "./citizen-sign-in.ts";

/** What `requestOtp` gives. */
export interface OtpRequested {
  readonly success: boolean;
  /** Seconds the code is good for. */
  readonly expiresIn: number;
}

/**
 * Citizens sign in with a 6-digit code sent to their phone or email address.
 *
 * @example
 * const otp = auth.adapter("otp");
 * await otp.requestOtp("+254712345678");
 * const { username, token } = await otp.verifyOtp("+254712345678", "123456");
 */
export class OtpAuthAdapter extends ServerAuthAdapter {
  protected readonly waysIn = "requestOtp(recipient) and verifyOtp(recipient, code)";

  constructor({ fields }: AdapterConfig, context: AdapterContext) {
    super(fields.serverUrl, context);
  }

  /** Sends a code to the recipient's phone number or email address. */
  async requestOtp(recipient: string): Promise<OtpRequested> {
    const { tenantId } = this.context;
    return this.api.request("/api/auth/otp/request", { body: { recipient, ...(tenantId && { tenantId }) } });
  }

  /** Signs in. Rejects with `SelectionRequiredError` where a household shares the recipient. */
  async verifyOtp(recipient: string, code: string): Promise<SignedIn> {
    return signCitizenIn(this.context, this.api, otpVerifyPath, { recipient, code }, recipient);
  }

  protected override async validateClaims(claims: Claims): Promise<boolean> {
    return (await super.validateClaims(claims)) && isCitizensToken(claims);
  }
}
