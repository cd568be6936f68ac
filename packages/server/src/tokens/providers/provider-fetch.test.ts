import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createProviderFetch, type ProviderFetchSettings } from "./provider-fetch.ts";

let server: Server;
let port: number;
let reached = 0;

beforeAll(async () => {
  server = createServer((_request, response) => {
    reached += 1;
    response.end('{"fine":true}');
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  ({ port } = server.address() as AddressInfo);
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

const production = { internalHosts: [], loopback: false };
const ask = (url: string, settings: Partial<ProviderFetchSettings> = {}) =>
  createProviderFetch({ ...production, ...settings })(url, { signal: AbortSignal.timeout(3000) });
const resolvingTo =
  (...addresses: string[]) =>
  async () =>
    addresses;

describe("asking a server that a tenant named", () => {
  test("only https, without a user", async () => {
    for (const url of [
      "http://login.example.org",
      "ftp://x.example",
      "https://u:p@x.example",
      "file:///etc/passwd",
      "x",
    ]) {
      await expect(ask(url), url).rejects.toMatchObject({ reason: "url_refused" });
    }
  });

  test("a name is refused when any of its addresses is inside", async () => {
    const inside = [["127.0.0.1"], ["8.8.8.8", "10.0.0.1"], ["::1"], ["::ffff:127.0.0.1"], ["169.254.169.254"]];
    for (const addresses of inside) {
      const asked = ask(`https://login.example.org:${port}`, { resolve: resolvingTo(...addresses) });
      await expect(asked, addresses.join()).rejects.toMatchObject({ reason: "address_refused" });
    }
    const nobody = ask("https://login.example.org", { resolve: resolvingTo() });
    await expect(nobody).rejects.toMatchObject({ reason: "not_found" });
  });

  test("an address is refused however it is spelt", async () => {
    for (const host of ["127.0.0.1", "2130706433", "0x7f000001", "0177.0.0.1", "127.1", "[::1]", "[::ffff:7f00:1]"]) {
      await expect(ask(`https://${host}:${port}`), host).rejects.toMatchObject({ reason: "address_refused" });
    }
    expect(reached).toBe(0);
  });

  test("the clock runs also while the name is being looked up", async () => {
    const never = (_host: string, signal: AbortSignal) =>
      new Promise<string[]>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    const fetch = createProviderFetch({ ...production, resolve: never });
    const asked = fetch("https://login.example.org", { signal: AbortSignal.timeout(200) });
    await expect(asked).rejects.toMatchObject({ reason: "timed_out" });
  });

  test("development may ask this machine, over http too; a deployment may list hosts inside", async () => {
    expect(await ask(`http://127.0.0.1:${port}/x`, { loopback: true })).toEqual({ fine: true });
    expect(await ask(`http://localhost:${port}/x`, { loopback: true })).toEqual({ fine: true });
    await expect(ask("http://10.0.0.7/x", { loopback: true })).rejects.toMatchObject({ reason: "url_refused" });
    // It is http that answers there: that TLS was tried shows that the address was let through.
    const listed = ask(`https://127.0.0.1:${port}/x`, { internalHosts: ["127.0.0.1"] });
    await expect(listed).rejects.toMatchObject({ reason: "unreachable" });
    const plain = ask(`http://127.0.0.1:${port}/x`, { internalHosts: ["127.0.0.1"] });
    await expect(plain).rejects.toMatchObject({ reason: "url_refused" });
  });
});
