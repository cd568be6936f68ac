export type {
  AdapterConfig,
  AdapterContext,
  AdapterFactory,
  AuthAdapter,
  Credentials,
  SignedIn,
  SignInOptions,
  SignInRequest,
} from "./adapters/adapter.ts";
export { SelectionRequiredError } from "./adapters/citizen-sign-in.ts";
export { StepUpRequiredError } from "./adapters/second-step.ts";
export { ServerAuthAdapter } from "./adapters/server-adapter.ts";
export type { ApiClient, ApiRequest } from "./api-client.ts";
export { type AdapterOf, type AdapterTypes, AuthManager } from "./auth-manager.ts";
export type { AuthEvent, AuthState, EndReason, Person, SettledState, SignedOutReason } from "./auth-state.ts";
export type { Claims } from "./encoding.ts";
export { AuthError, ConfigurationError, NetworkError } from "./errors.ts";
export type { KeyDatabase, KeyRecords, PendingLogout, RecordKind, VaultRecord } from "./keys/key-database.ts";
export type { AuthManagerOptions } from "./options.ts";
export type { Prover } from "./renewal/dpop.ts";
export type { SignInAnswer } from "./session.ts";
export type { AuthListener, AuthWarning } from "./state-store.ts";
export type { AuthStorageAdapter, StorageExtras, StoredSession } from "./storage/storage.ts";
export type { Verdict } from "./token-check.ts";
