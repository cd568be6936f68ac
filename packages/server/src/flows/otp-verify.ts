import type { CitizenSession, OtpVerifyRequest } from "@fieldgate/contract";
import { Fault } from "../fault.ts";
import type { Services } from "../services.ts";
import { completeSecondStep } from "./second-step.ts";
import { completeSelection } from "./selection.ts";
import { signInWithCode } from "./sign-in-with-code.ts";

/** Who asks: the same for each of the three ways to call otp/verify. */
export interface CitizenCaller {
  /** It need not exist. */
  readonly tenantId: string;
  readonly address: string;
  readonly deviceToken: string | null;
}

const forms = [
  ["recipient", "code"],
  ["selectionToken", "entityId"],
  ["challenge", "code"],
] as const;

/** The three things that otp/verify can do; the fields say which. */
export async function verifyOtp(
  services: Services,
  caller: CitizenCaller,
  { recipient, code, selectionToken, entityId, birthYear, challenge }: Omit<OtpVerifyRequest, "tenantId">,
): Promise<CitizenSession> {
  const given = Object.entries({ recipient, code, selectionToken, entityId, challenge });
  const names = given.filter(([, value]) => value !== undefined).map(([name]) => name);
  if (!forms.some((form) => form.length === names.length && form.every((name) => names.includes(name)))) {
    throw new Fault("invalid_request", {
      field: names.length === 0 ? "recipient" : missingField(names),
      message: "Send recipient and code, or selectionToken and entityId, or challenge and code.",
    });
  }
  if (recipient !== undefined && code !== undefined) return signInWithCode(services, caller, recipient, code);
  if (challenge !== undefined && code !== undefined) return completeSecondStep(services, caller, challenge, code);
  return completeSelection(services, caller, {
    selectionToken: selectionToken ?? "",
    entityId: entityId ?? "",
    birthYear,
  });
}

/** The field that the nearest form lacks, or the one that is too many. */
function missingField(names: readonly string[]): string {
  const nearest = forms.find((form) => form.some((name) => names.includes(name))) ?? forms[0];
  return (
    nearest.find((name) => !names.includes(name)) ?? names.find((name) => !nearest.some((own) => own === name)) ?? ""
  );
}
