export { PasswordAuthAdapter } from "./adapters/password.ts";

import { createProof, generatePair } from "./dpop.ts";
import type { Engine } from "./engine.ts";
import { putBounded } from "./keys/key-database.ts";
import { createRefresh } from "./refresh.ts";
import type { StoredSession } from "./storage/storage.ts";

/**
 * What only sessions with a refresh token need: the workers'. It is a part of its own, so that a page for citizens need not load it.
 */
export interface Renewal {
  /**
   * Renews the session in use; all callers of a tab share one attempt. Afterwards the session in use is the renewed one, another
   * tab's newer one, or none when the server ended it. Rejects when nothing could be decided, and then nothing has changed.
   */
  refresh(): Promise<void>;
  /** Makes a key for a session, and stores it before it is used. */
  bind(): Promise<Binding>;
  /** Proves possession of a key. */
  prover(pair: CryptoKeyPair): Prover;
}

/** Makes the proof for one request. */
export type Prover = (method: string, url: string, nonce: string | undefined) => Promise<string>;

export interface Binding {
  readonly keyId: NonNullable<StoredSession["keyId"]>;
  readonly prove: Prover;
}

export function createRenewal(engine: Engine): Renewal {
  const { keys, settings } = engine;
  const prover =
    (pair: CryptoKeyPair): Prover =>
    (method, url, nonce) =>
      createProof(pair, { method, url, nonce, now: engine.clock.now() });
  return {
    refresh: createRefresh(engine, prover),
    prover,
    async bind() {
      const pair = await generatePair(keys().extractable);
      const keyId = crypto.randomUUID();
      await putBounded(keys(), "pair", keyId, { at: settings.now(), pair });
      return { keyId, prove: prover(pair) };
    },
  };
}
