import { AuthError } from "../errors.ts";
import type { SignedIn } from "./adapter.ts";

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

/** Lets a sign-in ask for a second step by an error that can complete it. */
export async function withSecondStep(
  first: Promise<SignedIn>,
  complete: (challenge: string | undefined, code: string) => Promise<SignedIn>,
): Promise<SignedIn> {
  try {
    return await first;
  } catch (error) {
    const { code, problem } = error as AuthError;
    if (code !== "step_up_required") throw error;
    throw new StepUpRequiredError(error as AuthError, (given) => complete(problem?.challenge, given));
  }
}
