import type { PasswordHasher } from "../../src/people/password-hash.ts";
import { goodPassword, type NodeOptions, startNode, type TestNode } from "../kit/node.ts";

export const wrongPassword = "not-the-password-of-anyone";

/** A node that believes whoever stands before it about addresses, so that a test can come from anywhere. */
export async function startBehindProxy(options: NodeOptions): Promise<TestNode> {
  return startNode({ ...options, config: { trustedProxies: ["127.0.0.1"], ...options.config } });
}

export interface Guess {
  readonly username: string;
  readonly password?: string;
  readonly tenantId?: string;
  /** The address it comes from. */
  readonly from?: string;
  readonly deviceToken?: string;
}

/** Tries a password, the wrong one unless told otherwise. */
export function guess(node: TestNode, { username, password = wrongPassword, tenantId, from, deviceToken }: Guess) {
  return node.api.login(
    { username, password, ...(tenantId !== undefined && { tenantId }) },
    {
      headers: {
        "x-forwarded-for": from ?? "203.0.113.7",
        ...(deviceToken !== undefined && { "x-device-token": deviceToken }),
      },
    },
  );
}

export const signIn = (node: TestNode, who: Guess) => guess(node, { password: goodPassword, ...who });

/** Guesses one after the other, and says what each was answered. */
export async function guesses(node: TestNode, times: number, who: (turn: number) => Guess): Promise<number[]> {
  const statuses: number[] = [];
  for (let turn = 0; turn < times; turn += 1) statuses.push((await guess(node, who(turn))).status);
  return statuses;
}

export const retryAfter = (answer: { readonly headers: Headers }): number => Number(answer.headers.get("retry-after"));

/** An address of its own for each number. */
export const address = (turn: number): string => `198.51.${Math.floor(turn / 250)}.${(turn % 250) + 1}`;

/** Counts how often a node compares a password from now on. The comparison itself stays the real one. */
export function countComparisons(node: TestNode): () => number {
  const hasher = node.app.services.hasher as { verify: PasswordHasher["verify"] };
  const { verify } = hasher;
  let count = 0;
  hasher.verify = (hash, password) => {
    count += 1;
    return verify(hash, password);
  };
  return () => count;
}

export const times = <T>(count: number, make: (turn: number) => T): T[] =>
  Array.from({ length: count }, (_, n) => make(n));
