import { BlockList, isIP } from "node:net";

/** Ranges that are not the public internet (IANA special-purpose registries), and what can be used to reach them. */
const reserved4 = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  // Metadata services of clouds are here.
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.31.196.0/24",
  "192.52.193.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "192.175.48.0/24",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  // Multicast, reserved, broadcast.
  "224.0.0.0/3",
];

/** Of IPv6 only 2000::/3 is in use for the public; within it these are not, or lead into IPv4. */
const reserved6 = ["2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20"];

const blocked = new BlockList();
for (const range of reserved4) addRange(range, "ipv4");
for (const range of reserved6) addRange(range, "ipv6");
const unicast6 = new BlockList();
unicast6.addSubnet("2000::", 3, "ipv6");

function addRange(range: string, family: "ipv4" | "ipv6"): void {
  const [address = "", bits] = range.split("/");
  blocked.addSubnet(address, Number(bits), family);
}

/** Whether an address is one of the public internet. IPv4 inside IPv6, in whatever spelling, is not. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !blocked.check(address, "ipv4");
  // A zone (fe80::1%eth0) makes it local.
  if (family !== 6 || address.includes("%")) return false;
  return unicast6.check(address, "ipv6") && !blocked.check(address, "ipv6");
}
