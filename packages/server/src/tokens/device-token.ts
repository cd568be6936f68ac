import { mac, sameText } from "./mac.ts";

/** A device token is `device.MAC`: it proves which device this is, and grants nothing. */
export function deviceToken(key: Uint8Array, deviceId: string): string {
  return `${deviceId}.${mac(key, "device", deviceId)}`;
}

const form = /^([A-Za-z0-9_-]{22})\.[A-Za-z0-9_-]{43}$/;

/** The device a token names; the key is the one its row says. */
export function deviceIdOf(token: string): string | null {
  return form.exec(token)?.[1] ?? null;
}

export function isGenuineDevice(key: Uint8Array, deviceId: string, token: string): boolean {
  return sameText(token, deviceToken(key, deviceId));
}
