import type { SelectionRequiredError, SignedIn } from "@fieldgate/client";

/** Where somebody is on the way in. */
export type Step =
  | { readonly name: "ways" }
  | { readonly name: "worker" }
  | { readonly name: "recipient" }
  | CodeStep
  | { readonly name: "household"; readonly choice: SelectionRequiredError }
  | { readonly name: "id" }
  | { readonly name: "card"; readonly camera: boolean };

export interface CodeStep {
  readonly name: "code";
  /** Where the code went; masked for a second step. */
  readonly to: string;
  readonly isSecond: boolean;
  /** In ms. */
  readonly expiresAt: number;
  readonly verify: (code: string) => Promise<SignedIn>;
  /** Left out where it cannot be sent again. `at`: when that may be asked for, in ms. */
  readonly resend?: { readonly at: number; readonly send: () => Promise<void> };
}
