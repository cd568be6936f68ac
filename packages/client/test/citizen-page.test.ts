import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "vite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startNode, type TestNode } from "../../server/test/kit/node.ts";
import { TestChannel } from "../../server/test/kit/test-channel.ts";
import { chromiumPath, useChromium } from "./kit/chromium.ts";

describe.skipIf(chromiumPath === null)("a page with ten lines of code", () => {
  const sms = new TestChannel("sms", "sms");
  let folder: string;
  let node: TestNode;
  let pages: Server;
  let url: string;
  const chromium = useChromium();

  beforeAll(async () => {
    const files = await buildExample();
    pages = createServer(({ url: path = "/" }, response) => {
      const file = files.get(path === "/" ? "/index.html" : path);
      response.writeHead(file ? 200 : 404, { "content-type": path.endsWith(".js") ? "text/javascript" : "text/html" });
      response.end(file?.replace("<html", `<html data-server="${node.url}"`));
    });
    await new Promise<void>((resolve) => pages.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${(pages.address() as AddressInfo).port}`;
    folder = await mkdtemp(join(tmpdir(), "fieldgate-client-"));
    const database = { kind: "sqlite", file: join(folder, "f.db") } as const;
    node = await startNode({ database, channels: [sms], config: { corsOrigins: [url] } });
    await node.addTenant("demo", { defaultCountry: "KE" });
  });
  afterAll(async () => {
    pages?.close().closeAllConnections();
    await node?.close();
    if (folder) await rm(folder, { recursive: true });
  });

  test("signs a citizen in, who is signed in still after a reload and while the server is away", async () => {
    const phone = "+254712000555";
    const entityId = await node.addPerson({ phones: [phone] });
    const page = await chromium.browser.newPage();
    await page.goto(url);
    const output = page.locator("output");
    await expect.poll(() => output.textContent()).toBe("signedOut");
    await page.fill("[name=recipient]", phone);
    await page.click("button");
    await page.fill("[name=code]", await sms.codeFor(phone));
    await page.click("button");
    await expect.poll(() => output.textContent()).toBe(`signedIn: self-service:${entityId}`);
    await page.reload();
    await expect.poll(() => output.textContent()).toBe(`signedIn: self-service:${entityId}`);
    await node.close();
    await page.reload();
    await expect.poll(() => output.textContent(), { timeout: 15_000 }).toBe(`offlineGrace: self-service:${entityId}`);
    await page.close();
  });
});

async function buildExample(): Promise<Map<string, string>> {
  const root = join(import.meta.dirname, "../../../examples/citizen-page");
  const outputs = await build({
    root,
    configFile: false,
    logLevel: "error",
    build: { write: false, target: "es2023", rolldownOptions: { input: join(root, "index.html") } },
  });
  const files = (Array.isArray(outputs) ? outputs : [outputs]).flatMap((each) => ("output" in each ? each.output : []));
  return new Map(files.map((file) => [`/${file.fileName}`, file.type === "chunk" ? file.code : String(file.source)]));
}
