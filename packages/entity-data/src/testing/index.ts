export type { ConformanceCase } from "@fieldgate/client/testing";
export { type EntityStoreSubject, entityStoreConformance } from "./entity-store-conformance.ts";
export { type EventStoreSubject, eventStoreConformance } from "./event-store-conformance.ts";
