import type { ApiClient } from "../api-client.ts";
import { AuthError } from "../errors.ts";
import type { SignInAnswer } from "../session.ts";
import type { AdapterContext, SignedIn } from "./adapter.ts";

/** One of the people who share a phone or an address. */
export interface Choice {
  readonly entityId: string;
  readonly label: string;
}

/** Several people have this recipient: let the person choose, then call `select`. */
export class SelectionRequiredError extends AuthError {
  override name = "SelectionRequiredError";
  readonly selection: readonly Choice[];
  /** Signs the chosen person in. */
  readonly select: (entityId: string) => Promise<SignedIn>;

  constructor(cause: AuthError, select: (entityId: string) => Promise<SignedIn>) {
    super("selection_required", cause.message, { status: cause.status, cause });
    this.selection = cause.problem?.selection as Choice[];
    this.select = select;
  }
}

/** A code was sent as the second step: ask for it, then call `complete`. */
export class StepUpRequiredError extends AuthError {
  override name = "StepUpRequiredError";
  /** Where the code went, masked; undefined where the service does not say. */
  readonly destination: string | undefined;
  /** Completes the sign-in with the code. */
  readonly complete: (code: string) => Promise<SignedIn>;

  constructor(cause: AuthError, complete: (code: string) => Promise<SignedIn>) {
    super("step_up_required", cause.message, { status: cause.status, cause });
    this.destination = cause.problem?.destination as string | undefined;
    this.complete = complete;
  }
}

export const otpVerifyPath = "/api/auth/otp/verify";

/** Sends a citizen's proof. What the service asks for next comes as an error that can answer it. */
export async function signCitizenIn(
  context: AdapterContext,
  api: ApiClient,
  { path, body, name }: { readonly path: string; readonly body: object; readonly name: string },
): Promise<SignedIn> {
  const { tenantId } = context;
  const answerWith = (proof: object) => signCitizenIn(context, api, { path: otpVerifyPath, body: proof, name });
  try {
    return await context.signIn(
      ({ device }) => api.request<SignInAnswer>(path, { device, body: { ...body, ...(tenantId && { tenantId }) } }),
      { server: api.url, name },
    );
  } catch (error) {
    if (!(error instanceof AuthError)) throw error;
    const { code, problem } = error;
    if (code === "selection_required") {
      const selectionToken = problem?.selectionToken;
      throw new SelectionRequiredError(error, (entityId) => answerWith({ selectionToken, entityId }));
    }
    if (code === "step_up_required") {
      const challenge = problem?.challenge;
      throw new StepUpRequiredError(error, (sent) => answerWith({ challenge, code: sent }));
    }
    throw error;
  }
}

/** A citizen's token is for self-service and for one entity. */
export function isCitizensToken(claims: Readonly<Record<string, unknown>>): boolean {
  return String(claims.scope).split(" ").includes("self-service") && typeof claims.entityId === "string";
}
