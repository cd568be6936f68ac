import { isIP } from "node:net";

const loopback = /^(?:(?:.+\.)?localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/i;

/** Whether a host name or address can only mean this machine. */
export function isLoopbackHost(host: string): boolean {
  return loopback.test(host);
}

/** Whether the text is an address or a range such as 10.0.0.0/8. A range of everything is none. */
export function isAddressRange(text: string): boolean {
  const [address = "", prefix, ...more] = text.split("/");
  const family = isIP(address);
  if (family === 0 || more.length > 0) return false;
  if (prefix === undefined) return true;
  const bits = Number(prefix);
  return /^\d{1,3}$/.test(prefix) && bits >= 1 && bits <= (family === 4 ? 32 : 128);
}

export interface HostAndPort {
  readonly host: string;
  readonly port: number;
}

/** `127.0.0.1:9464`, `localhost:9464` or `[::1]:9464`. */
export function parseHostAndPort(text: string): HostAndPort | null {
  const match = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9.-]+)):(\d{1,5})$/i.exec(text);
  const host = match?.[1] ?? match?.[2];
  const port = Number(match?.[3]);
  return host !== undefined && port <= 65_535 ? { host, port } : null;
}

/** A host as it stands in a URL. */
export function hostInUrl(host: string): string {
  return isIP(host) === 6 ? `[${host}]` : host;
}
