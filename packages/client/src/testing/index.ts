export { type AdapterSubject, adapterConformance } from "./adapter-conformance.ts";
export { type ConformanceCase, claim, claimEqual } from "./conformance.ts";
export { type StorageSubject, storageConformance } from "./storage-conformance.ts";
