import { createPrivateKey, createPublicKey, type JsonWebKey, type KeyObject, type webcrypto } from "node:crypto";
import type { JsonWebKeySet } from "@fieldgate/contract";
import type { JWK } from "jose";
import type { Clock } from "../clock.ts";
import type { Store } from "../store/store.ts";
import type { KeyVault } from "./key-vault.ts";
import { type KeyPurpose, type KeyRecord, keysTopic, listKeys } from "./keys.ts";

export interface SigningKey {
  readonly kid: string;
  readonly privateKey: KeyObject;
}

export interface MacKey {
  readonly id: string;
  readonly secret: Uint8Array;
}

/** A node's live view of the keys. Asking it costs no query. */
export interface Keyring {
  /** The key that signs access tokens now. */
  signer(): SigningKey;
  /**
   * The public half of a key that may still have signed a living token. One that this node has not heard of, such as
   * after an outage, is asked for first: rejects when the database does not answer.
   */
  verifier(kid: string): Promise<webcrypto.CryptoKey | undefined>;
  jwks(): JsonWebKeySet;
  /** The MAC key to make new things with. */
  mac(purpose: "refresh" | "device" | "nonce" | "index" | "otp"): MacKey;
  /** The MAC key that an older thing was made with. */
  macById(id: string): MacKey | undefined;
  reload(): Promise<void>;
  stop(): void;
}

interface Loaded {
  readonly records: readonly KeyRecord[];
  readonly signers: ReadonlyMap<string, KeyObject>;
  readonly verifiers: ReadonlyMap<string, webcrypto.CryptoKey>;
  readonly macs: ReadonlyMap<string, MacKey>;
  readonly jwks: JsonWebKeySet;
}

const ecdsa = { name: "ECDSA", namedCurve: "P-256" } as const;

/** Hints hasten it; this is what holds when they are lost. */
const reloadEveryMs = 1000;

export async function openKeyring(
  store: Store,
  vault: KeyVault,
  clock: Clock,
  onError: (error: unknown) => void = () => undefined,
): Promise<Keyring> {
  let loadedAt = clock.monotonic();
  let loaded = await load(store, vault, clock);
  let loading: Promise<void> | null = null;

  function reload(): Promise<void> {
    const startedAt = clock.monotonic();
    loading ??= load(store, vault, clock, loaded)
      .then((next) => {
        loaded = next;
        loadedAt = startedAt;
      })
      .finally(() => {
        loading = null;
      });
    return loading;
  }
  const reloadQuietly = () => void reload().catch(onError);
  const timer = setInterval(reloadQuietly, reloadEveryMs);
  timer.unref();
  const stopHints = store.onHint(keysTopic, reloadQuietly);

  /** The newest key of a purpose that is active; keys are ordered by the time they become so. */
  function active(purpose: KeyPurpose): KeyRecord {
    const now = clock.now();
    const record = loaded.records.findLast((key) => key.purpose === purpose && key.activeFrom <= now);
    const found = record ?? loaded.records.find((key) => key.purpose === purpose);
    if (!found) throw new Error(`There is no ${purpose} key in the database.`);
    return found;
  }

  return {
    signer() {
      const kid = active("access").id;
      return { kid, privateKey: demand(loaded.signers.get(kid), kid) };
    },
    async verifier(kid) {
      const known = loaded.verifiers.get(kid);
      // Keys are published for longer than this before they are used; and nobody can make us ask more often.
      if (known || clock.monotonic() - loadedAt <= 2 * reloadEveryMs) return known;
      await reload();
      return loaded.verifiers.get(kid);
    },
    jwks: () => loaded.jwks,
    mac(purpose) {
      const { id } = active(purpose);
      return demand(loaded.macs.get(id), id);
    },
    macById: (id) => loaded.macs.get(id),
    reload,
    stop() {
      clearInterval(timer);
      stopHints();
    },
  };
}

function demand<T>(value: T | undefined, id: string): T {
  if (value === undefined) throw new Error(`The key ${id} is not loaded.`);
  return value;
}

/** Reads the keys; those that have not changed since `before` are not opened again. */
async function load(store: Store, vault: KeyVault, clock: Clock, before?: Loaded): Promise<Loaded> {
  const now = clock.now();
  const records = (await listKeys(store)).filter((key) => key.expiresAt === null || key.expiresAt > now);
  const known = (key: KeyRecord) => before?.verifiers.has(key.id) || before?.macs.has(key.id);
  const unknown = records.filter((key) => key.purpose !== "journal" && !known(key)).map((key) => key.id);
  const rows = unknown.length
    ? await store.db.selectFrom("keys").select(["id", "purpose", "sealed"]).where("id", "in", unknown).execute()
    : [];

  const signers = new Map<string, KeyObject>();
  const verifiers = new Map<string, webcrypto.CryptoKey>();
  const macs = new Map<string, MacKey>();
  const opened = new Map(rows.map((row) => [row.id, vault.open(row.id, row.purpose, row.sealed)]));
  for (const key of records) {
    if (key.purpose === "journal") continue;
    const secret = opened.get(key.id);
    if (key.purpose === "access" && key.publicJwk) {
      signers.set(key.id, before?.signers.get(key.id) ?? importSigner(demand(secret, key.id)));
      verifiers.set(key.id, before?.verifiers.get(key.id) ?? importVerifier(key.publicJwk));
    } else {
      macs.set(key.id, before?.macs.get(key.id) ?? { id: key.id, secret: demand(secret, key.id) });
    }
  }
  return { records, signers, verifiers, macs, jwks: publish(records) };
}

const importSigner = (pkcs8: Uint8Array) => createPrivateKey({ key: Buffer.from(pkcs8), format: "der", type: "pkcs8" });

const importVerifier = (jwk: JWK) =>
  createPublicKey({ key: jwk as JsonWebKey, format: "jwk" }).toCryptoKey(ecdsa, false, ["verify"]);

function publish(records: readonly KeyRecord[]): JsonWebKeySet {
  const keys = records
    .filter((key) => key.purpose === "access")
    .map(({ id, alg, publicJwk }) => ({
      kty: publicJwk?.kty ?? "",
      crv: publicJwk?.crv ?? "",
      x: publicJwk?.x ?? "",
      y: publicJwk?.y ?? "",
      kid: id,
      alg,
      use: "sig",
    }));
  return { keys };
}
