import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runChaos } from "./kit/chaos.ts";
import { chromiumPath, useChromium } from "./kit/chromium.ts";
import { type LossyProxy, startLossyProxy } from "./kit/lossy-proxy.ts";
import { type PageServer, servePages } from "./kit/page-server.ts";
import { amina, useService } from "./kit/service.ts";

// The short form. The long one, with 20 tabs and 500 rotations: npm run chaos -w @fieldgate/client
const isLong = process.env.FIELDGATE_CHAOS === "long";
const size = isLong ? { tabs: 20, rotations: 500 } : { tabs: 5, rotations: 25 };

describe.skipIf(chromiumPath === null)("many tabs on a network that loses 30 % of the answers", () => {
  let pages: PageServer;
  let proxy: LossyProxy;
  const config = { baseUrl: "", audience: "", corsOrigins: [] as string[] };
  beforeAll(async () => {
    pages = await servePages();
    proxy = await startLossyProxy();
    config.corsOrigins.push(pages.url);
    Object.assign(config, { baseUrl: proxy.url, audience: proxy.url });
  });
  const service = useService({ config });
  const chromium = useChromium();
  afterAll(async () => {
    await proxy?.close();
    await pages?.close();
  });

  test("sign nobody out, keep one living session, and give nothing to a copied token", {
    timeout: 1_800_000,
  }, async () => {
    proxy.target = service.url;
    const { node } = service;
    const { browser } = chromium;
    const report = await runChaos({ browser, pages, proxy, node, credentials: amina, loss: 0.3, ...size });
    if (isLong) process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
    expect(report.falseLogouts).toEqual([]);
    expect(report.rotations).toBeGreaterThanOrEqual(size.rotations);
    expect(report.killed + report.frozen).toBeGreaterThan(1);
    expect(report.isAlive).toBe(true);
    expect(report.livingSessions).toBe(1);
    expect(Object.keys(report.replays)).toEqual(["400 invalid_dpop_proof"]);
  });
});
