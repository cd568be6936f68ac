export type { EventApplier } from "./applier/applier.ts";
export { type Applied, EventApplierService } from "./applier/event-applier-service.ts";
export type { AuditEntry } from "./audit-trail.ts";
export type { Entity, EntityContent } from "./entities/entity.ts";
export type { EntityStore, StoredEntity } from "./entities/entity-store.ts";
export { EntityDataManager, type LoggedOut } from "./entity-data-manager.ts";
export { EntityDataError, type EntityDataErrorCode, type EntityDataErrorDetails } from "./errors.ts";
export type { Author, EntityEvent, Form, Receipt } from "./events/event.ts";
export type {
  Append,
  EventStatus,
  EventStore,
  LogHead,
  LogQuery,
  Settlement,
  StoredEvent,
} from "./events/event-store.ts";
export type { ExternalChange, ExternalResult, ExternalSyncAdapter } from "./external/external-sync-adapter.ts";
export {
  type ExternalSession,
  type ExternalSummary,
  ExternalSyncManager,
  type ExternalSyncOptions,
} from "./external/external-sync-manager.ts";
export { HttpJsonAdapter, type HttpJsonOptions } from "./external/http-json-adapter.ts";
export type { Mapping } from "./external/mapping.ts";
export type { Json, JsonObject } from "./json.ts";
export type { EntityDataEvent, EntityDataListener } from "./listeners.ts";
export type { EntityFields, Search } from "./search.ts";
export { InternalSyncManager, type InternalSyncOptions } from "./sync/internal-sync-manager.ts";
export type { RejectedEvent, SyncOptions, SyncProgress, SyncSummary } from "./sync/progress.ts";
export type { SyncManager, SyncSession } from "./sync/sync-session.ts";
export type { ChainFinding, ChainReport } from "./workspace/verify.ts";
export type { Submission } from "./workspace/workspace.ts";
