import type { Clock } from "../clock.ts";
import type { Keyring } from "./keyring.ts";
import { mac, sameText } from "./mac.ts";

/**
 * Freshness of DPoP proofs without trusting a device's clock: a nonce is the MAC of a span of time, so every node knows
 * every nonce and none is stored.
 */
export interface DpopNonces {
  /** The nonce to hand out now. */
  current(): string;
  isFresh(nonce: string): boolean;
  /** Seconds for which a proof could be used again. */
  readonly longestLife: number;
}

export function createDpopNonces(keyring: Keyring, clock: Clock, spanSeconds: number): DpopNonces {
  const spanMs = spanSeconds * 1000;
  const spanNow = () => Math.floor(clock.now() / spanMs);
  const known = new Map<number, string>();

  function nonceOf(span: number): string {
    let nonce = known.get(span);
    if (nonce === undefined) {
      if (known.size > 8) known.clear();
      nonce = mac(keyring.mac("nonce").secret, "dpop-nonce", span);
      known.set(span, nonce);
    }
    return nonce;
  }

  return {
    current: () => nonceOf(spanNow()),
    // The span before is still good for an answer on its way; the one after for a node whose clock is ahead.
    isFresh: (nonce) => [0, -1, 1].some((away) => sameText(nonce, nonceOf(spanNow() + away))),
    longestLife: 3 * spanSeconds,
  };
}
