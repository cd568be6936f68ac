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

/** A code was sent as the second step: ask for it, then call `complete`. */
export class StepUpRequiredError extends AuthError {
  override name = "StepUpRequiredError";
  /** Where the code went, masked. */
  readonly destination: string | undefined;
  /** Seconds the code is good for. */
  readonly expiresIn: number | undefined;
  /** Completes the sign-in with the code. */
  readonly complete: (code: string) => Promise<SignedIn>;

  constructor({ message, status, problem }: AuthError, complete: StepUpRequiredError["complete"]) {
    super("step_up_required", message, { status });
    this.destination = problem?.destination;
    this.expiresIn = problem?.expiresIn;
    this.complete = complete;
  }
}

export const otpVerifyPath = "/api/auth/otp/verify";

/** Sends a citizen's proof. What the service asks for next comes as an error that can answer it. */
export async function signCitizenIn(
  context: AdapterContext,
  api: ApiClient,
  path: string,
  proof: object,
  name: string,
): Promise<SignedIn> {
  const { tenantId } = context;
  const body = { ...proof, ...(tenantId && { tenantId }) };
  const goOn = (next: object) => signCitizenIn(context, api, otpVerifyPath, next, name);
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
        goOn({ selectionToken, entityId, birthYear }),
      );
    }
    if (code === "step_up_required") {
      const challenge = problem?.challenge;
      throw new StepUpRequiredError(error as AuthError, (given) => goOn({ challenge, code: given }));
    }
    throw error;
  }
}

/** A citizen's token is for self-service and for one entity. */
export function isCitizensToken(claims: Readonly<Record<string, unknown>>): boolean {
  return String(claims.scope).split(" ").includes("self-service") && typeof claims.entityId === "string";
}
