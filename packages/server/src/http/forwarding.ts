import type { IncomingMessage } from "node:http";
import { BlockList, isIP, type Socket } from "node:net";
import { normaliseAddress, parseHop } from "./client-address.ts";

/** Where a request really came from, as far as the configured proxies can be believed. */
export interface Forwarding {
  trusts(request: IncomingMessage): boolean;
  clientAddress(request: IncomingMessage): string;
  scheme(request: IncomingMessage): "http" | "https";
  /** Lower case, without its port; empty where the request names none. */
  host(request: IncomingMessage): string;
}

/**
 * Forwarded headers count only when the direct peer is a trusted proxy. Each proxy appends what it saw, so lists are
 * read from their right end: what stands further left may have been written by the client.
 */
export function createForwarding(trustedProxies: readonly string[]): Forwarding {
  const proxies = trustedProxies.length === 0 ? null : listOf(trustedProxies);
  const verdicts = new WeakMap<Socket, boolean>();

  const isProxy = (address: string): boolean => proxies?.check(address, isIP(address) === 6 ? "ipv6" : "ipv4") === true;

  function trusts(request: IncomingMessage): boolean {
    if (proxies === null) return false;
    const known = verdicts.get(request.socket);
    if (known !== undefined) return known;
    const address = peerAddress(request);
    const verdict = address !== "" && isProxy(address);
    verdicts.set(request.socket, verdict);
    return verdict;
  }

  function clientAddress(request: IncomingMessage): string {
    let address = peerAddress(request);
    if (!trusts(request)) return address;
    const hops = listHeader(request, "x-forwarded-for");
    for (let last = hops.length - 1; last >= 0 && isProxy(address); last--) {
      const hop = parseHop(hops[last] ?? "");
      if (hop === null) break;
      address = hop;
    }
    return address;
  }

  function scheme(request: IncomingMessage): "http" | "https" {
    if (trusts(request)) {
      const forwarded = listHeader(request, "x-forwarded-proto").at(-1);
      if (forwarded !== undefined) return forwarded.toLowerCase() === "https" ? "https" : "http";
    }
    return "encrypted" in request.socket ? "https" : "http";
  }

  function host(request: IncomingMessage): string {
    const forwarded = trusts(request) ? listHeader(request, "x-forwarded-host").at(-1) : undefined;
    return hostName(forwarded ?? request.headers.host ?? "");
  }

  return { trusts, clientAddress, scheme, host };
}

function listOf(trustedProxies: readonly string[]): BlockList {
  const list = new BlockList();
  for (const entry of trustedProxies) {
    const [address = "", prefix] = entry.split("/");
    const family = isIP(address) === 6 ? "ipv6" : "ipv4";
    const bits = prefix === undefined ? (family === "ipv6" ? 128 : 32) : Number(prefix);
    if (isIP(address) === 0 || !Number.isInteger(bits) || bits < 0 || bits > (family === "ipv6" ? 128 : 32)) {
      throw new TypeError(
        `trustedProxies: "${entry}" is neither an address nor a range such as 10.0.0.0/8. Correct or remove it.`,
      );
    }
    list.addSubnet(address, bits, family);
  }
  return list;
}

function peerAddress(request: IncomingMessage): string {
  return normaliseAddress(request.socket.remoteAddress ?? "") ?? "";
}

/** The entries of a list header; Node joins repeated ones with a comma. */
function listHeader(request: IncomingMessage, name: string): string[] {
  const value = request.headers[name];
  if (typeof value !== "string" || value.trim() === "") return [];
  return value.split(",").map((entry) => entry.trim());
}

function hostName(authority: string): string {
  const name = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/i.exec(authority.trim())?.[1];
  return name === undefined ? "" : name.toLowerCase().replace(/\.$/, "");
}
