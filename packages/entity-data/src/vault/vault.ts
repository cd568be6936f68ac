import type { AuthManager, KeyDatabase, Person, VaultRecord } from "@fieldgate/client";
import { EntityDataError } from "../errors.ts";
import { base64url, fromBase64url } from "../hash-chain.ts";
import { type Cipher, createCipher } from "./cipher.ts";

/** Owners of what was written before anybody signed in begin with this. */
const devicePrefix = "device-";
const isDevice = (owner: string) => owner.startsWith(devicePrefix);

/** Who works here, and with which key. */
export interface Seat {
  /** Null while nobody is signed in, or their key could not be had yet. */
  readonly person: SignedInPerson | null;
  readonly cipher: Cipher;
}

/** Who is signed in. Two people of one provider may have the same name: their ids tell them apart. */
export interface SignedInPerson extends Person {
  readonly userId: string | undefined;
}

/** Null for nobody. */
export function whoIsIn({ state, userId }: Pick<AuthManager, "state" | "userId">): SignedInPerson | null {
  const settled = state.status === "signingIn" ? state.before : state;
  switch (settled.status) {
    case "signedIn":
    case "refreshing":
    case "offlineGrace":
      return { provider: settled.provider, username: settled.username, userId };
    default:
      return null;
  }
}

export const isSamePerson = (a: SignedInPerson | null, b: SignedInPerson | null): boolean =>
  a?.provider === b?.provider && a?.username === b?.username && a?.userId === b?.userId;

/**
 * The keys of what lies on this device, in the client's key database. A person's own comes from the service at sign-in, is kept
 * while they are signed in, so that an app can be opened again offline, and is deleted when they leave.
 */
export class Vault {
  readonly #auth: AuthManager;
  readonly #unsubscribe: () => void;
  #seat: { readonly person: SignedInPerson; readonly cipher: Cipher } | undefined;
  #device: Promise<Cipher> | undefined;
  /** Until when it makes no sense to ask for a person's key again, in ms of `performance.now()`. */
  #askAgainAt = 0;
  /** One at a time: a key that is being deleted must not be the one that was just fetched. */
  #queue: Promise<unknown> = Promise.resolve();

  /** @param onChange Called when somebody else, or nobody, is signed in: nothing of the one before may be held any longer. */
  constructor(auth: AuthManager, onChange: () => void) {
    this.#auth = auth;
    let before: SignedInPerson | null = null;
    this.#unsubscribe = auth.subscribe((state) => {
      const person = whoIsIn(auth);
      const left = before;
      if (isSamePerson(left, person)) return;
      before = person;
      this.#seat = undefined;
      this.#askAgainAt = 0;
      onChange();
      // What is this device's opinion alone ends nothing: the person may come back, offline too.
      const isGone = state.status !== "expired" || isFinal(state.reason);
      if (left && isGone) this.#inTurn(() => this.#forget(left)).catch(() => 0);
    });
  }

  /** Removes keys of people who are not signed in any more: a page may have been closed in the middle of a logout. */
  async initialize(): Promise<void> {
    await this.#auth.initialize();
    await this.#inTurn(async () => {
      if (this.#auth.state.status !== "signedOut") return;
      for (const [id] of await this.#keys.list("vault")) {
        if (!isDevice(id)) await this.#keys.remove("vault", id);
      }
    });
  }

  /** Who works here now. What somebody writes whose key cannot be had now is the device's, until it can. */
  async seat(): Promise<Seat> {
    const person = whoIsIn(this.#auth);
    const cipher = person && (await this.#inTurn(() => this.#cipherSoon(person)));
    return cipher ? { person, cipher } : { person: null, cipher: await this.device() };
  }

  /** The signed-in person. Rejects when nobody is, or their key cannot be had. */
  async personalSeat(): Promise<Seat & { readonly person: SignedInPerson }> {
    const person = whoIsIn(this.#auth);
    if (!person) throw notAuthenticated();
    return { person, cipher: await this.#inTurn(() => this.#cipherOf(person)) };
  }

  /** The owner of what the signed-in person wrote, as far as it is known without asking anybody. */
  async owner(): Promise<string | null> {
    const person = whoIsIn(this.#auth);
    if (!person) return null;
    if (this.#seat && isSamePerson(this.#seat.person, person)) return this.#seat.cipher.owner;
    return (await this.#keys.get("vault", await placeOf(person)))?.owner ?? null;
  }

  /**
   * The ciphers of what belongs to nobody yet. Usually one; two tabs that make the first one at the same moment make two, and none
   * takes the other's place.
   */
  async devices(): Promise<Cipher[]> {
    const records = (await this.#keys.list("vault")).filter(([id]) => isDevice(id));
    return records.sort(([a], [b]) => (a < b ? -1 : 1)).map(([owner, { key }]) => createCipher(owner, key));
  }

  /** The one of them to write with. */
  device(): Promise<Cipher> {
    this.#device ??= this.#openDevice().catch((error) => {
      this.#device = undefined;
      throw error;
    });
    return this.#device;
  }

  /** Deletes a person's key now. It is given back at their next sign-in. */
  async lock(person: SignedInPerson): Promise<void> {
    await this.#inTurn(() => this.#forget(person));
  }

  async close(): Promise<void> {
    this.#unsubscribe();
    await this.#queue;
  }

  get #keys(): KeyDatabase {
    return this.#auth.keys;
  }

  /** Null where the key cannot be had now: whoever waits for it would wait at each form. */
  async #cipherSoon(person: SignedInPerson): Promise<Cipher | null> {
    if (performance.now() < this.#askAgainAt) return null;
    try {
      return await this.#cipherOf(person);
    } catch (error) {
      // They will not get one at this sign-in. Under the device's key the next person would adopt what they write.
      if (error instanceof EntityDataError && error.code === "refused") throw error;
      this.#askAgainAt = performance.now() + 10_000;
      return null;
    }
  }

  async #cipherOf(person: SignedInPerson): Promise<Cipher> {
    if (this.#seat && isSamePerson(this.#seat.person, person)) return this.#seat.cipher;
    checkCrypto();
    const place = await placeOf(person);
    const { owner, key } = (await this.#keys.get("vault", place)) ?? (await this.#fetch(person, place));
    const cipher = createCipher(owner, key);
    if (!isSamePerson(whoIsIn(this.#auth), person)) throw notAuthenticated();
    this.#seat = { person, cipher };
    return cipher;
  }

  async #fetch(person: SignedInPerson, place: string): Promise<VaultRecord> {
    const signal = AbortSignal.timeout(15_000);
    const response = await this.#auth.fetch("api/users/me/vault-key", { signal }).catch((cause) => {
      throw new EntityDataError("unreachable", "The service did not give the key of this person's data.", { cause });
    });
    const answer = (await response.json().catch(() => ({}))) as { keyId?: string; key?: string; code?: string };
    if (response.status === 401) throw notAuthenticated();
    if (response.status === 403) {
      const message =
        "This way of signing in is not enough for keeping data on a device. Sign in with a code, for one.";
      throw new EntityDataError("refused", message, { status: 403, ...(answer.code && { problem: answer.code }) });
    }
    if (!response.ok || !answer.key || !answer.keyId) {
      const details = { status: response.status, ...(answer.code && { problem: answer.code }) };
      throw new EntityDataError("unreachable", "The service did not give the key of this person's data.", details);
    }
    const usages: KeyUsage[] = ["encrypt", "decrypt"];
    const bytes = fromBase64url(answer.key);
    const key = await crypto.subtle.importKey("raw", bytes, "AES-GCM", this.#keys.extractable, usages);
    const record = { at: Date.now(), owner: answer.keyId, key };
    // Somebody else may have signed in meanwhile: then it may be theirs.
    if (!isSamePerson(whoIsIn(this.#auth), person)) throw notAuthenticated();
    await this.#keys.put("vault", place, record);
    // One who was here before may have left without a word.
    for (const [id] of await this.#keys.list("vault")) {
      if (id !== place && !isDevice(id)) await this.#keys.remove("vault", id);
    }
    return record;
  }

  async #openDevice(): Promise<Cipher> {
    checkCrypto();
    const [known] = await this.devices();
    if (known) return known;
    const owner = `${devicePrefix}${crypto.randomUUID()}`;
    const algorithm = { name: "AES-GCM", length: 256 };
    const key = await crypto.subtle.generateKey(algorithm, this.#keys.extractable, ["encrypt", "decrypt"]);
    await this.#keys.put("vault", owner, { at: Date.now(), owner, key });
    return createCipher(owner, key);
  }

  async #forget(person: SignedInPerson): Promise<void> {
    // They, or the same person again, may have signed in since.
    if (isSamePerson(whoIsIn(this.#auth), person)) return;
    this.#seat = undefined;
    await this.#keys.remove("vault", await placeOf(person));
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#queue.then(work);
    this.#queue = turn.catch(() => 0);
    return turn;
  }
}

/** Whether a session is over by the server's word. */
const isFinal = (reason: string) => ["invalid_grant", "session_revoked", "invalid_token"].includes(reason);

/** The record of a person, without their name in it. */
async function placeOf({ provider, username, userId }: SignedInPerson): Promise<string> {
  const text = new TextEncoder().encode(JSON.stringify([provider, userId ?? username]));
  return base64url(new Uint8Array(await crypto.subtle.digest("SHA-256", text)));
}

export function notAuthenticated(): EntityDataError {
  return new EntityDataError("not_authenticated", "Nobody is signed in: sign in, then try again. Nothing was changed.");
}

function checkCrypto(): void {
  if (globalThis.crypto?.subtle) return;
  throw new EntityDataError("insecure_context", "Nothing can be kept safe on this page: serve it over https.");
}
