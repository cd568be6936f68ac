import type { KeyDatabase } from "../keys/key-database.ts";

/** A session as it is stored: plain JSON, so that any backend can hold it. */
export interface StoredSession {
  /** Random at sign-in and one more at each change: equal versions mean equal sessions. */
  readonly version: number;
  /** The registry key of the way in. */
  readonly provider: string;
  readonly username: string;
  /** The access token; empty once the server has ended the session. */
  readonly token: string;
  /** The base URL of the service that gave the token, the only one of ours it is sent to. */
  readonly server?: string | undefined;
  readonly userId?: string | undefined;
  /** When the person signed in and when the token was given, in ms of the server's clock. */
  readonly signedInAt?: number | undefined;
  readonly renewedAt?: number | undefined;
  /** When the token and the refresh token end, in ms of the server's clock. */
  readonly expiresAt?: number | undefined;
  readonly refreshToken?: string | undefined;
  readonly refreshExpiresAt?: number | undefined;
  /** The ID token of an identity provider, to be shown to it at logout. */
  readonly idToken?: string | undefined;
  /** The key pair in the key database that the session is bound to. */
  readonly keyId?: string | undefined;
  /** How far the server's clock was ahead of this device's, in ms. */
  readonly skew?: number | undefined;
  /** With which code the server ended the session. */
  readonly ended?: "invalid_grant" | "session_revoked" | "invalid_token" | undefined;
}

/**
 * Where the sessions of one tenant are kept. Implement it to add a backend; run the suite of `@fieldgate/client/testing`
 * on it.
 *
 * Guarantees every implementation must give:
 * - `put`, `replace` and `remove` resolve when the change is durable; a change is whole or did not happen.
 * - `replace` compares and stores in one step, also against other tabs and processes. It is false, and changes nothing, when
 *   the stored version is another one or nothing is stored.
 * - `remove` leaves nothing of a session behind.
 * - Storages of different tenants share nothing.
 */
export interface AuthStorageAdapter {
  readonly tenantId: string;
  initialize(): Promise<void>;
  get(provider: string): Promise<StoredSession | null>;
  put(provider: string, session: StoredSession): Promise<void>;
  replace(provider: string, expectedVersion: number, next: StoredSession): Promise<boolean>;
  /** Removes the session of one provider, or of all. */
  remove(provider?: string): Promise<void>;
  providers(): Promise<string[]>;
  close(): Promise<void>;
}

/** What a storage may offer besides. The built-in ones do; AuthManager works without. */
export interface StorageExtras {
  /** The key database of this storage, once it is initialized. Without one AuthManager opens the platform's own. */
  keys?(): KeyDatabase | undefined;
  /** Why sessions will not outlive this page or process, where they will not. */
  readonly warning?: string | null;
  /** Whether the browser has thrown sessions away that nobody logged out of. */
  readonly evicted?: boolean;
}
