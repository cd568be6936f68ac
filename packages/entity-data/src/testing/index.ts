export type { ConformanceCase } from "./conformance.ts";
export { type EntityStoreSubject, entityStoreConformance } from "./entity-store-conformance.ts";
export { type EventStoreSubject, eventStoreConformance } from "./event-store-conformance.ts";
