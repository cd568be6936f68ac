import type { Services } from "../services.ts";
import { isKnownDevice } from "../store/devices.ts";
import { deviceIdOf, isGenuineDevice } from "../tokens/device-token.ts";

/** The device that a request proves to come from, whoever's it is. */
export function genuineDevice({ keyring }: Services, token: string | null): string | null {
  const deviceId = token && deviceIdOf(token);
  return deviceId && isGenuineDevice(keyring.mac("device").secret, deviceId, token) ? deviceId : null;
}

/** The device that a request proves to come from, if it belongs to one of these accounts. */
export async function knownDevice(
  services: Services,
  tenantId: string,
  userIds: readonly string[],
  token: string | null,
): Promise<string | null> {
  const deviceId = genuineDevice(services, token);
  if (deviceId === null) return null;
  return (await isKnownDevice(services.store, tenantId, userIds, deviceId)) ? deviceId : null;
}
