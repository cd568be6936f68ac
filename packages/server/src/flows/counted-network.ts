import { BlockList, isIPv6 } from "node:net";
import type { TenantSettings } from "../people/tenants.ts";
import { networkOf } from "./network.ts";

/** The network that ceilings count; null for the ranges of kiosks and carriers that a tenant knows. */
export function countedNetwork(address: string, settings: TenantSettings | undefined): string | null {
  const ranges = settings?.sharedNetworks ?? [];
  if (ranges.length > 0 && listOf(ranges).check(address, isIPv6(address) ? "ipv6" : "ipv4")) return null;
  return networkOf(address);
}

function listOf(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = "", bits = ""] = range.split("/");
    list.addSubnet(address, Number(bits), isIPv6(address) ? "ipv6" : "ipv4");
  }
  return list;
}
