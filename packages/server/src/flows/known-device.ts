import type { Services } from "../services.ts";
import { isKnownDevice } from "../store/devices.ts";
import { deviceIdOf, isGenuineDevice } from "../tokens/device-token.ts";

/** The device that a request proves to come from, if it belongs to one of these accounts. */
export async function knownDevice(
  { keyring, store }: Services,
  tenantId: string,
  userIds: readonly string[],
  token: string | null,
): Promise<string | null> {
  const deviceId = token && deviceIdOf(token);
  if (!deviceId || !isGenuineDevice(keyring.mac("device").secret, deviceId, token)) return null;
  return (await isKnownDevice(store, tenantId, userIds, deviceId)) ? deviceId : null;
}
