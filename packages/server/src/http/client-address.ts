import { isIP } from "node:net";

/** One spelling per address: IPv4 inside IPv6 becomes plain IPv4, a zone is dropped. Null where it is no address. */
export function normaliseAddress(text: string): string | null {
  const address = text.replace(/%.*$/, "").toLowerCase();
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(address)?.[1] ?? address;
  return isIP(mapped) === 0 ? null : mapped;
}

/** An entry of `X-Forwarded-For`: an address, which some proxies write with a port. */
export function parseHop(text: string): string | null {
  const hop = text.trim();
  const bare = /^\[([^\]]+)\](?::\d+)?$/.exec(hop)?.[1] ?? /^([\d.]+):\d+$/.exec(hop)?.[1] ?? hop;
  return normaliseAddress(bare);
}

/** The network an address lies in: enough to see a sweep in the log, too little to name a person's connection. */
export function networkOf(address: string): string {
  if (address === "") return "unknown";
  if (address.includes(".")) return `${address.split(".").slice(0, 3).join(".")}.0/24`;
  const [head = ""] = address.split("::", 1);
  const groups = head.split(":").filter((group) => group !== "");
  const network = groups.slice(0, 3).map((group) => Number.parseInt(group, 16).toString(16));
  while (address.includes("::") && network.length < 3) network.push("0");
  return `${network.join(":")}::/48`;
}
