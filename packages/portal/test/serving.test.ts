import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { afterAll, expect, test } from "vitest";
import { createApp } from "../../server/src/app.ts";
import { buildPortal, portalFolder } from "../build/build-portal.ts";
import { asInlineScript } from "../build/inline-page.ts";
import { fr } from "../src/strings/fr.ts";
import { useHouse } from "./kit/house.ts";

const house = useHouse();
const empty = mkdtempSync(join(tmpdir(), "fieldgate-empty-"));
afterAll(() => rmSync(empty, { recursive: true }));

/** As it is on the wire: nothing is normalised or decompressed. */
function raw(path: string, headers: Record<string, string> = {}, method = "GET") {
  const { port } = new URL(house.url);
  return new Promise<{ status: number; headers: Record<string, string | undefined>; body: Buffer }>(
    (resolve, reject) => {
      const call = request({ port, host: "127.0.0.1", path, headers, method }, (answer) => {
        const parts: Buffer[] = [];
        answer.on("data", (part: Buffer) => parts.push(part));
        answer.on("end", () =>
          resolve({
            status: answer.statusCode ?? 0,
            headers: answer.headers as Record<string, string | undefined>,
            body: Buffer.concat(parts),
          }),
        );
      });
      call.on("error", reject).end();
    },
  );
}

const assets = () => readdirSync(join(portalFolder, "assets")).filter((name) => /\.(js|css)$/.test(name));

const factsIn = (page: string) => JSON.parse(/id="page-config">([^<]*)</.exec(page)?.[1] ?? "");
const hashOf = (text = "") => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

test("the page: a strict policy, nothing inline that its hash does not allow, the tenant's facts in it", async () => {
  const { status, headers, body } = await raw("/");
  expect([status, headers["content-type"], headers["cache-control"]]).toEqual([
    200,
    "text/html; charset=utf-8",
    "no-cache",
  ]);
  const page = body.toString();
  const scripts = [...page.matchAll(/<script type="(?:module|importmap)">(.*?)<\/script>/gs)].map(([, text]) => text);
  const styles = [...page.matchAll(/<style>(.*?)<\/style>/gs)].map(([, text]) => text);
  expect([scripts.length, styles.length]).toEqual([3, 1]);
  const policy = headers["content-security-policy"]?.split("; ") ?? [];
  expect(policy.slice(0, 3)).toEqual([
    "default-src 'none'",
    `script-src 'self' ${scripts.map(hashOf).join(" ")}`,
    `style-src ${styles.map(hashOf).join(" ")}`,
  ]);
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).toContain("require-trusted-types-for 'script'");
  expect(policy.join()).not.toMatch(/unsafe|strict-dynamic|\*|data:/);
  const markup = page.replaceAll(/<(script|style)[^>]*>.*?<\/\1>/gs, "");
  expect(markup).not.toMatch(/<script|<style|style=|onload=|javascript:|rel="stylesheet"/);
  expect(factsIn(page)).toMatchObject({ tenant: "demo", auth: { tenantId: "demo", birthYearAlone: true } });
  expect((await raw("/", {}, "HEAD")).status).toBe(200);
});

test("the page is sent compressed, and not again to who has it", async () => {
  const plain = await raw("/");
  for (const [encoding, unpack] of [
    ["br", brotliDecompressSync],
    ["gzip", gunzipSync],
  ] as const) {
    const asked = { "accept-encoding": encoding };
    const { headers, body } = await raw("/", asked);
    expect([headers["content-encoding"], headers.vary]).toEqual([encoding, "Accept-Language, Accept-Encoding"]);
    expect(unpack(body).equals(plain.body)).toBe(true);
    expect(headers.etag).not.toBe(plain.headers.etag);
    const again = await raw("/", { ...asked, "if-none-match": `"other", W/${headers.etag}` });
    expect([again.status, again.body.length, again.headers.etag]).toEqual([304, 0, headers.etag]);
    expect(again.headers["content-security-policy"]).toBe(headers["content-security-policy"]);
    const other = { ...asked, "accept-language": "sw", "if-none-match": headers.etag ?? "" };
    expect((await raw("/", other)).status).toBe(200);
  }
  await house.node.addTenant("second");
  expect((await raw("/?tenant=second", { "if-none-match": plain.headers.etag ?? "" })).status).toBe(200);
});

test("names that somebody made up make no pages of their own", async () => {
  const pages = await Promise.all(["/?tenant=made-up", "/?tenant=made-up-too"].map((path) => raw(path)));
  expect(new Set(pages.map(({ headers }) => headers.etag)).size).toBe(1);
  expect(factsIn(String(pages[0]?.body)).auth).toBeNull();
});

test("what an operator calls a programme cannot break out of the page", async () => {
  const { store } = house.node.app.services;
  await house.node.addTenant("evil");
  await store.db
    .updateTable("tenants")
    .set({ name: "</script><script>alert(1)</script><!--" })
    .where("id", "=", "evil")
    .execute();
  const page = (await raw("/?tenant=evil")).body.toString();
  expect(page).not.toContain("alert(1)</script>");
  expect(factsIn(page).auth.name).toBe("</script><script>alert(1)</script><!--");
  expect(factsIn((await raw("/?tenant=%3Cx%3E")).body.toString()).tenant).toBe("demo");
});

test("the identity providers of the tenant are the only others that the page may speak to", async () => {
  const fields = { authority: "https://login.example.org/x", client_id: "a", organization: "b" };
  await house.node.addTenant("federated", { adapters: [{ type: "oidc_a", fields }] });
  const policy = (await raw("/?tenant=federated")).headers["content-security-policy"];
  expect(policy).toContain("connect-src 'self' https://login.example.org;");
});

test("the language that the browser prefers comes along", async () => {
  const brought = async (language: string) =>
    factsIn((await raw("/", { "accept-language": language })).body.toString()).language;
  expect(await brought("fr-CA,fr;q=0.9,en;q=0.8")).toEqual({ code: "fr", strings: fr });
  expect(await brought("de, sw;q=0.5")).toMatchObject({ code: "sw" });
  expect(await brought("en-GB, fr")).toBeUndefined();
  expect(await brought("__proto__, constructor")).toBeUndefined();
});

test("assets are kept for ever, in the encoding that is accepted; the rest only for a while", async () => {
  for (const name of assets()) {
    const plain = readFileSync(join(portalFolder, "assets", name));
    const { status, headers, body } = await raw(`/assets/${name}`, { "accept-encoding": "gzip" });
    expect([status, headers["content-encoding"], headers.vary]).toEqual([200, "gzip", "Accept-Encoding"]);
    expect(headers["cache-control"]).toBe("public, max-age=31536000, immutable");
    expect(headers["content-type"]).toMatch(name.endsWith(".js") ? /^text\/javascript/ : /^text\/css/);
    expect(headers["x-content-type-options"]).toBe("nosniff");
    expect(gunzipSync(body).equals(plain)).toBe(true);
    expect((await raw(`/assets/${name}`)).body.equals(plain)).toBe(true);
  }
  const { headers } = await raw("/sw.js");
  expect([headers["cache-control"], headers["content-security-policy"]]).toEqual([
    "no-cache",
    "default-src 'none'; connect-src 'self'",
  ]);
  expect((await raw("/sign-in.js")).headers["cache-control"]).toBe("public, max-age=300");
  expect((await raw("/manifest.webmanifest")).headers["content-type"]).toMatch(/^application\/manifest\+json/);
});

test.each([
  "/assets/../portal.json",
  "/assets/%2e%2e/portal.json",
  "/assets/..%2fportal.json",
  "/assets/..%5c..%5cpackage.json",
  "/assets/....//package.json",
  "/assets//etc/passwd",
  "/assets/",
  "/assets",
  "/assets/nothing.js",
  "/.sources",
  "/portal.json",
  "/index.html",
  "/assets/__proto__",
  "//assets/../../package.json",
])("%s leads nowhere", async (path) => {
  const { status, headers } = await raw(path);
  expect(status).toBeGreaterThanOrEqual(400);
  expect(status).toBeLessThan(500);
  expect(headers["content-type"]).toContain("application/problem+json");
});

test("what a citizen loads first is at most 60 KB, the page with all that it needs in it", async () => {
  for (const language of ["en", "fr", "es", "ar", "sw"]) {
    const { body } = await raw("/", { "accept-language": language, "accept-encoding": "gzip" });
    const page = gunzipSync(body).toString();
    expect(page).not.toMatch(/<script[^>]* src=|rel="(modulepreload|preload|stylesheet)"/);
    expect(page).toContain("customElements.define(`fieldgate-portal`");
    expect(body.length).toBeLessThan(60_000);
  }
});

test("no text in a script can end it, or hide its end", () => {
  const code = "a(`</script><SCRIPT><!--`,/<!--/u);b(()=>import(`./x.js`));import('./y.js')";
  const inline = asInlineScript(code);
  expect(inline).toBe(
    "a(`\\x3c/script>\\x3cSCRIPT>\\x3c!--`,/\\x3c!--/u);b(()=>import(`./assets/x.js`));import('./assets/y.js')",
  );
});

test("a build that is up to date is not made again", async () => {
  expect((await buildPortal()).built).toBe(false);
});

test("without a built portal the service runs, and says how to build it", async () => {
  const { config } = house.node;
  const app = await createApp(
    { ...config, listen: { host: "127.0.0.1", port: 0 }, database: { kind: "sqlite", file: join(empty, "f.db") } },
    { portal: { folder: empty } },
  );
  try {
    const { url } = await app.listen();
    const answer = await fetch(url);
    expect([answer.status, answer.headers.get("content-type")]).toEqual([404, "text/html; charset=utf-8"]);
    expect(await answer.text()).toContain("npm run build -w @fieldgate/portal");
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  } finally {
    await app.close();
  }
});
