import type { IncomingMessage } from "node:http";
import { describe, expect, test } from "vitest";
import { networkOf, normaliseAddress } from "./client-address.ts";
import { createForwarding } from "./forwarding.ts";

function request(peer: string, headers: Record<string, string> = {}, encrypted = false): IncomingMessage {
  const socket = { remoteAddress: peer, ...(encrypted && { encrypted: true }) };
  return { socket, headers } as unknown as IncomingMessage;
}

const spoofed = {
  "x-forwarded-for": "198.51.100.7",
  "x-forwarded-proto": "https",
  "x-forwarded-host": "other.example",
  host: "real.example:8443",
};

describe("without trusted proxies", () => {
  const forwarding = createForwarding([]);

  test("no forwarded header is believed, not even from loopback", () => {
    const sent = request("127.0.0.1", spoofed);
    expect(forwarding.clientAddress(sent)).toBe("127.0.0.1");
    expect(forwarding.scheme(sent)).toBe("http");
    expect(forwarding.host(sent)).toBe("real.example");
  });

  test("the scheme is that of the connection", () => {
    expect(forwarding.scheme(request("192.0.2.1", {}, true))).toBe("https");
  });
});

describe("with trusted proxies", () => {
  const forwarding = createForwarding(["10.0.0.0/8", "2001:db8:1::/48", "192.0.2.9"]);

  test("another peer is not believed", () => {
    const sent = request("203.0.113.5", spoofed);
    expect(forwarding.clientAddress(sent)).toBe("203.0.113.5");
    expect(forwarding.scheme(sent)).toBe("http");
    expect(forwarding.host(sent)).toBe("real.example");
  });

  test.each([
    ["10.1.2.3", "198.51.100.7", "198.51.100.7"],
    ["::ffff:10.1.2.3", "198.51.100.7", "198.51.100.7"],
    ["2001:db8:1::5", "2001:DB8:9::1", "2001:db8:9::1"],
    // The client wrote the first entries itself; the proxies appended the last ones.
    ["10.1.2.3", "1.1.1.1, 198.51.100.7", "198.51.100.7"],
    ["10.1.2.3", "1.1.1.1, 198.51.100.7, 10.9.9.9, 192.0.2.9", "198.51.100.7"],
    ["10.1.2.3", "10.0.0.1, 198.51.100.7", "198.51.100.7"],
    ["10.1.2.3", "10.0.0.1", "10.0.0.1"],
    ["10.1.2.3", "198.51.100.7:5555", "198.51.100.7"],
    ["10.1.2.3", "[2001:db8:9::1]:443", "2001:db8:9::1"],
    ["10.1.2.3", "::ffff:198.51.100.7", "198.51.100.7"],
    // What is no address ends the search at the last hop that is one.
    ["10.1.2.3", "198.51.100.7, unknown", "10.1.2.3"],
    ["10.1.2.3", "", "10.1.2.3"],
    ["10.1.2.3", " , ,", "10.1.2.3"],
  ])("peer %s, X-Forwarded-For %j: %s", (peer, header, client) => {
    expect(forwarding.clientAddress(request(peer, { "x-forwarded-for": header }))).toBe(client);
  });

  test.each([
    ["https", "https"],
    ["HTTPS", "https"],
    ["http, https", "https"],
    ["https, http", "http"],
    ["https,", "http"],
    ["wss", "http"],
  ])("X-Forwarded-Proto %j is %s", (header, scheme) => {
    expect(forwarding.scheme(request("10.1.2.3", { "x-forwarded-proto": header }))).toBe(scheme);
  });

  test.each([
    ["Clinic.Example", "clinic.example"],
    ["a.example, clinic.example:8443", "clinic.example"],
    ["clinic.example.", "clinic.example"],
    ["[2001:db8::1]:443", "[2001:db8::1]"],
    ["clinic example", ""],
    ["clinic.example/path", ""],
    ["user@clinic.example", ""],
  ])("X-Forwarded-Host %j is %j", (header, host) => {
    expect(forwarding.host(request("10.1.2.3", { "x-forwarded-host": header, host: "inner" }))).toBe(host);
  });
});

test.each(["10.0.0.0/33", "proxy.example", "10.0.0.0/x", "", "10.0.0.0/-1", "fe80::/129"])(
  "trustedProxies with %j names it",
  (entry) => {
    expect(() => createForwarding([entry])).toThrow(`trustedProxies: "${entry}"`);
  },
);

test.each([
  ["203.0.113.77", "203.0.113.0/24"],
  ["2001:db8:a:b::1", "2001:db8:a::/48"],
  ["2001:0db8:000a:b:0:0:0:1", "2001:db8:a::/48"],
  ["2001:db8::1", "2001:db8:0::/48"],
  ["::1", "0:0:0::/48"],
  ["", "unknown"],
])("the network of %j is %s", (address, network) => {
  expect(networkOf(address)).toBe(network);
});

test.each([
  ["::ffff:1.2.3.4", "1.2.3.4"],
  ["::FFFF:1.2.3.4", "1.2.3.4"],
  ["fe80::1%eth0", "fe80::1"],
  ["999.1.1.1", null],
  ["", null],
])("%j is the address %j", (text, address) => {
  expect(normaliseAddress(text)).toBe(address);
});
