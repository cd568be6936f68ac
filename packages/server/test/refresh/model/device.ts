import type { DpopKey } from "../../kit/dpop-key.ts";
import type { SignedIn } from "../../sessions/deployment.ts";
import { FamilyModel } from "./family-model.ts";

/** What the tabs of one browser share; it changes by compare-and-swap, as `AuthStorageAdapter.replace` does. */
export class Storage {
  version = 0;
  refreshToken: string | null;

  constructor(refreshToken: string) {
    this.refreshToken = refreshToken;
  }

  replace(expectedVersion: number, refreshToken: string | null): boolean {
    if (this.version !== expectedVersion) return false;
    this.version += 1;
    this.refreshToken = refreshToken;
    return true;
  }
}

/** What a tab has read, and the answer it has not dealt with yet. */
export interface Errand {
  readonly version: number;
  readonly refreshToken: string;
  readonly given?: string;
}

/** A browser in which someone is signed in. */
export class Device {
  readonly key: DpopKey;
  readonly sid: string;
  readonly storage: Storage;
  readonly family: FamilyModel;
  /** What each tab is at; null: nothing. */
  readonly tabs: (Errand | null)[];
  readonly accessTokens: string[];
  /** What was in the storage last: a logout that never arrived is sent again with its hash. */
  lastStored: string;
  /** Everything that was ever sent, as an eavesdropper has it. */
  readonly sentProofs: string[] = [];

  constructor(session: SignedIn, tabs: number) {
    if (!session.key) throw new Error("The model is one of bound sessions.");
    this.key = session.key;
    this.sid = session.sid;
    this.storage = new Storage(session.refreshToken);
    this.family = new FamilyModel(session.refreshToken);
    this.tabs = Array.from({ length: tabs }, () => null);
    this.accessTokens = [session.token];
    this.lastStored = session.refreshToken;
  }

  read(tab: number): Errand | null {
    const { version, refreshToken } = this.storage;
    const errand = refreshToken === null ? null : { version, refreshToken };
    this.tabs[tab] = errand;
    return errand;
  }

  /** A tab deals with its answer: it is stored only if nobody else was quicker. */
  settle(tab: number): void {
    const errand = this.tabs[tab];
    this.tabs[tab] = null;
    if (errand?.given !== undefined && this.storage.replace(errand.version, errand.given))
      this.lastStored = errand.given;
  }

  /** The storage is emptied at once, whether the server hears of it or not. */
  forget(): void {
    this.storage.replace(this.storage.version, null);
  }
}
