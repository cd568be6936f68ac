/** What presenting a genuine refresh token means, given where its family stands. */
export type RefreshDecision =
  /** It is the newest: the family moves on. */
  | "rotate"
  /** Its answer was lost: the same successor is given again. */
  | "repeat"
  /** Another tab or retry is further on: the client reads its storage again. */
  | "superseded"
  /** Someone has a copy: the family ends. */
  | "reuse"
  | "revoked"
  | "expired";

export interface FamilyState {
  readonly counter: number;
  readonly bound: boolean;
  readonly revoked: boolean;
  readonly expiresAt: number;
  readonly rotatedAt: number;
}

/** All instants are the database's, in milliseconds. */
export function decideRefresh(family: FamilyState, presented: number, now: number, replayMs: number): RefreshDecision {
  if (family.revoked) return "revoked";
  if (family.expiresAt <= now) return "expired";
  if (presented === family.counter) return "rotate";
  if (family.bound) {
    if (presented > family.counter) return "rotate";
    return presented === family.counter - 1 ? "repeat" : "superseded";
  }
  const isFreshParent = presented === family.counter - 1 && now - family.rotatedAt <= replayMs;
  return isFreshParent ? "repeat" : "reuse";
}
