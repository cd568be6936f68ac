import type { SelectionChoice } from "@fieldgate/contract";
import type { ApiClient } from "../api-client.ts";
import { AuthError } from "../errors.ts";
import type { SignInAnswer } from "../session.ts";
import type { AdapterContext, SignedIn } from "./adapter.ts";

/** Several people share this recipient: let the person choose, then call `select`. */
export class SelectionRequiredError extends AuthError {
  override name = "SelectionRequiredError";
  readonly selection: readonly SelectionChoice[];
  /** Whether the tenant wants the chosen person's year of birth as a check. */
  readonly birthYearRequired: boolean;
  /** Signs the chosen person in. */
  readonly select: (entityId: string, birthYear?: number) => Promise<SignedIn>;

  constructor({ message, status, problem }: AuthError, select: SelectionRequiredError["select"]) {
    super("selection_required", message, { status });
    this.selection = problem?.selection ?? [];
    this.birthYearRequired = !!problem?.birthYearRequired;
    this.select = select;
  }
}

export const otpVerifyPath = "/api/auth/otp/verify";

/** Sends a citizen's proof. That several people share the recipient comes as an error that can answer it. */
export async function signCitizenIn(
  context: AdapterContext,
  api: ApiClient,
  path: string,
  proof: object,
  name: string,
): Promise<SignedIn> {
  const { tenantId } = context;
  const body = { ...proof, ...(tenantId && { tenantId }) };
  try {
    return await context.signIn(({ device }) => api.request<SignInAnswer>(path, { device, body }), {
      server: api.url,
      name,
    });
  } catch (error) {
    const { code, problem } = error as AuthError;
    if (code === "selection_required") {
      const selectionToken = problem?.selectionToken;
      throw new SelectionRequiredError(error as AuthError, (entityId, birthYear) =>
        signCitizenIn(context, api, otpVerifyPath, { selectionToken, entityId, birthYear }, name),
      );
    }
    throw error;
  }
}

/** A citizen's token is for self-service and for one entity. */
export function isCitizensToken(claims: Readonly<Record<string, unknown>>): boolean {
  return String(claims.scope).split(" ").includes("self-service") && typeof claims.entityId === "string";
}
