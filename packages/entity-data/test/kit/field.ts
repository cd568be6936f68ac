import { type AdapterConfig, AuthManager, type AuthManagerOptions, type AuthStorageAdapter } from "@fieldgate/client";
import { MemoryAuthStorageAdapter } from "@fieldgate/client/storage/memory";
import { afterAll } from "vitest";
import { FaultyNetwork } from "../../../client/test/kit/faulty-network.ts";
import { Device, type Service } from "../../../client/test/kit/service.ts";
import {
  EntityDataManager,
  type EntityStore,
  EventApplierService,
  type EventStore,
  type ExternalSyncManager,
  InternalSyncManager,
} from "../../src/index.ts";
import { MemoryEntityStore, MemoryEventStore } from "../../src/stores/memory.ts";

export interface DeviceOptions extends AuthManagerOptions {
  /** Providers of a test's own, instead of the usual network and clock. */
  readonly configs?: readonly AdapterConfig[];
  readonly storage?: AuthStorageAdapter;
  readonly events?: EventStore;
  readonly entities?: EntityStore;
  readonly appliers?: EventApplierService;
  readonly external?: ExternalSyncManager;
  readonly internal?: InternalSyncManager;
}

/** Quick to try again: a test's network comes back at once, or never. */
export const quickSync = () => new InternalSyncManager({ firstDelay: 5, longestDelay: 20, tries: 8 });

/** Devices that use a service, each with stores and keys of its own. They are closed after the tests. */
export function useDevices(service: Service) {
  const opened: EntityDataManager[] = [];
  afterAll(async () => {
    for (const manager of opened) await manager.close();
  });
  return (options: DeviceOptions = {}) => {
    const { events = new MemoryEventStore(), entities = new MemoryEntityStore(), internal = quickSync() } = options;
    const { appliers = new EventApplierService(), storage = new MemoryAuthStorageAdapter("demo") } = options;
    const { external, ...rest } = options;
    const made = options.configs
      ? withProviders(service, options.configs, storage)
      : service.manager({ ...rest, storage });
    const manager = new EntityDataManager(events, entities, appliers, external, internal, made.auth);
    opened.push(manager);
    return { ...made, manager, events, entities, appliers };
  };
}

function withProviders({ url }: Service, configs: readonly AdapterConfig[], storage: AuthStorageAdapter) {
  const auth = new AuthManager(configs, url, storage, { checkInterval: 0 });
  return { auth, storage, network: new FaultyNetwork(), device: new Device() };
}

export const person = (given: string, more: Record<string, string> = {}) => ({
  type: "create-individual",
  data: { names: { given }, ...more },
});
