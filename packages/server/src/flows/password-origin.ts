import { deploymentTenant } from "../journal/event.ts";
import type { Tenant } from "../people/tenants.ts";
import type { Lane } from "../people/work-gate.ts";
import type { Worker } from "../people/workers.ts";
import type { Services } from "../services.ts";
import { isWorkersDevice } from "../store/devices.ts";
import { countedNetwork } from "./counted-network.ts";
import { genuineDevice, knownDevice } from "./known-device.ts";
import { networkOf } from "./network.ts";

/** Where a password attempt comes from: what it is counted by, and where it waits for its turn. */
export interface PasswordOrigin {
  readonly network: string;
  /** The device, if it has proven to be one of this account's. */
  readonly deviceId: string | null;
  /** Where failures count whoever they are about; null where they do not. */
  readonly place: string | null;
  readonly lane: Lane;
}

interface Sender {
  readonly address: string;
  readonly deviceToken: string | null;
}

/** Refuses at once who cannot be given a turn; who shows a device is looked up first. */
export function demandTurn(services: Services, tenant: Tenant | null, { address, deviceToken }: Sender): void {
  if (genuineDevice(services, deviceToken) === null) services.hasher.demandRoom(strangersLane(tenant, address));
}

/**
 * A device of the account is counted by itself alone, and another worker's by that device: neither waits for strangers,
 * nor answers for what others in its network do. Everyone else is their network.
 */
export async function passwordOrigin(
  services: Services,
  tenant: Tenant | null,
  worker: Worker | null,
  { address, deviceToken }: Sender,
): Promise<PasswordOrigin> {
  const network = networkOf(address);
  const shown = tenant && genuineDevice(services, deviceToken);
  const stranger = { network, deviceId: null, place: countedNetwork(address, tenant?.settings) };
  if (!tenant || shown === null) return { ...stranger, lane: strangersLane(tenant, address) };
  const lane = [tenant.id, "devices", shown];
  const deviceId = await knownDevice(services, tenant.id, worker ? [worker.id] : [], deviceToken);
  if (deviceId !== null) return { network, deviceId, place: null, lane };
  if (await isWorkersDevice(services.store, tenant.id, shown)) return { network, deviceId, place: shown, lane };
  return { ...stranger, lane: strangersLane(tenant, address) };
}

const strangersLane = (tenant: Tenant | null, address: string): Lane => [
  tenant?.id ?? deploymentTenant,
  "networks",
  networkOf(address),
];
