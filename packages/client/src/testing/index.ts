export type { ConformanceCase } from "./conformance.ts";
export { type StorageSubject, storageConformance } from "./storage-conformance.ts";
