import type { Claims } from "../encoding.ts";
import { AuthError } from "../errors.ts";
import type { SignInAnswer } from "../session.ts";
import type { AdapterConfig, AdapterContext, SignedIn } from "./adapter.ts";
import { isCitizensToken, otpVerifyPath, signCitizenIn } from "./otp.ts";
import { withSecondStep } from "./second-step.ts";
import { ServerAuthAdapter } from "./server-adapter.ts";

export { SelectionRequiredError } from "./otp.ts";
export { StepUpRequiredError } from "./second-step.ts";

const qrPath = "/api/auth/qr/verify";

/**
 * Citizens sign in with their national ID number and date of birth, or with a scanned QR card.
 *
 * @example
 * const id = auth.adapter("id");
 * await id.authenticateWithId("12345678", "1990-05-17", "kenya");
 * await id.authenticateWithQr(scannedText);
 */
export class IdAuthAdapter extends ServerAuthAdapter {
  protected readonly waysIn = "authenticateWithId(idNumber, dateOfBirth, tenantId) or authenticateWithQr(qrPayload)";

  constructor({ fields }: AdapterConfig, context: AdapterContext) {
    super(fields.serverUrl, context);
  }

  /**
   * Signs in by ID number and date of birth (ISO 8601). Rejects with `StepUpRequiredError` where the tenant wants a code too. The
   * tenant must be the storage's: a session of one tenant is never stored with another's.
   */
  async authenticateWithId(idNumber: string, dateOfBirth: string, tenantId?: string): Promise<SignedIn> {
    const { tenantId: own } = this.context;
    if (own && tenantId !== undefined && tenantId !== own) {
      throw new AuthError(
        "tenant_mismatch",
        `This storage is tenant "${own}"'s, not "${tenantId}"'s: use one per tenant.`,
        {
          field: "tenantId",
        },
      );
    }
    const proof = { idNumber, dateOfBirth, tenantId };
    return this.#signIn("/api/auth/id/verify", proof, idNumber);
  }

  /**
   * Signs in by the text of a scanned QR card, exactly as scanned: a space at its end belongs to it.
   *
   * With `assisted`, the signed-in worker presents the card of the citizen in front of them: the citizen's token comes back and
   * the worker stays signed in.
   */
  async authenticateWithQr(qrPayload: string, options: { readonly assisted?: boolean } = {}): Promise<SignedIn> {
    if (!options.assisted) return this.#signIn(qrPath, { qrPayload }, qrPayload);
    const worker = await this.context.currentToken();
    if (!worker) throw new AuthError("not_signed_in", "Only a signed-in worker can present another person's card.");
    const request = { token: worker, body: { qrPayload, assisted: true } };
    const { username, token } = await this.api.request<SignInAnswer>(qrPath, request);
    return { username, token };
  }

  #signIn(path: string, proof: object, name: string): Promise<SignedIn> {
    const send = (to: string, body: object) => signCitizenIn(this.context, this.api, to, body, name);
    return withSecondStep(send(path, proof), (challenge, code) => send(otpVerifyPath, { challenge, code }));
  }

  protected override async validateClaims(claims: Claims): Promise<boolean> {
    return (await super.validateClaims(claims)) && isCitizensToken(claims);
  }
}
