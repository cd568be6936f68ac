import type { AuthError } from "@fieldgate/client";
import { CameraTrouble } from "../camera/camera-trouble.ts";
import type { StringKey } from "../strings/en.ts";

/** What went wrong, as a sentence for the person in front of the screen. */
export interface Trouble {
  readonly key: StringKey;
  /** When it opens again, in ms. */
  readonly until?: number;
  /** What the sentence calls the other side. */
  readonly name?: string;
}

/** Codes whose sentence has the same name. */
const own: ReadonlySet<string> = new Set<StringKey>([
  "invalid_credentials",
  "invalid_code",
  "invalid_identity",
  "qr_malformed",
  "qr_unsupported",
  "qr_invalid",
  "assistance_required",
  "too_many_attempts",
  "rate_limited",
  "unreachable",
  "unavailable",
  "provider_unavailable",
  "not_provisioned",
  "tenant_not_found",
  "signed_out_meanwhile",
]);

const byField: Readonly<Record<string, StringKey>> = {
  recipient: "invalid_recipient",
  code: "codeSix",
  idNumber: "invalid_id_number",
  dateOfBirth: "invalid_birth_date",
  qrPayload: "qr_malformed",
  username: "required",
  password: "required",
};

const byCode: Readonly<Record<string, StringKey>> = {
  busy: "unavailable",
  request_timeout: "unreachable",
  access_denied: "provider_refused",
  sign_in_expired: "provider_refused",
  popup_blocked: "provider_refused",
  provider_error: "provider_refused",
};

export function troubleOf(error: unknown, name?: string): Trouble {
  if (error instanceof CameraTrouble) return { key: error.reason };
  const { code = "", field = "", retryAfter } = error as Partial<AuthError>;
  // The service was not asked yet: it is the identity provider that is away.
  if (name !== undefined && code === "unreachable") return { key: "provider_unavailable", name };
  const key = own.has(code) ? (code as StringKey) : (byCode[code] ?? byField[field] ?? "unknown_problem");
  const wait = key === "too_many_attempts" || key === "rate_limited" ? (retryAfter ?? 60) : undefined;
  return {
    key,
    ...(wait !== undefined && { until: Date.now() + wait * 1000 }),
    ...(name !== undefined && { name }),
  };
}
