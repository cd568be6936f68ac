import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { afterAll, expect, test } from "vitest";
import { createApp } from "../../server/src/app.ts";
import { buildPortal, portalFolder } from "../build/build-portal.ts";
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

test("the page: a strict policy, nothing inline that runs, the tenant's facts in it", async () => {
  const { status, headers, body } = await raw("/");
  expect([status, headers["content-type"], headers["cache-control"]]).toEqual([
    200,
    "text/html; charset=utf-8",
    "no-cache",
  ]);
  const policy = headers["content-security-policy"] ?? "";
  expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).toContain("require-trusted-types-for 'script'");
  expect(policy).not.toMatch(/unsafe|\*|data:/);
  const page = body.toString();
  expect(page).not.toMatch(
    /<style|style=|onload=|javascript:|<script(?! type="application\/json"| type="module" crossorigin src=)/,
  );
  const facts = JSON.parse(/id="page-config">([^<]*)</.exec(page)?.[1] ?? "");
  expect(facts).toMatchObject({ tenant: "demo", auth: { tenantId: "demo", birthYearAlone: true } });
  expect((await raw("/", {}, "HEAD")).status).toBe(200);
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
  const facts = JSON.parse(/id="page-config">([^<]*)</.exec(page)?.[1] ?? "");
  expect(facts.auth.name).toBe("</script><script>alert(1)</script><!--");
  expect(
    JSON.parse(/id="page-config">([^<]*)</.exec((await raw("/?tenant=%3Cx%3E")).body.toString())?.[1] ?? "").tenant,
  ).toBe("demo");
});

test("the identity providers of the tenant are the only others that the page may speak to", async () => {
  const fields = { authority: "https://login.example.org/x", client_id: "a", organization: "b" };
  await house.node.addTenant("federated", { adapters: [{ type: "oidc_a", fields }] });
  const policy = (await raw("/?tenant=federated")).headers["content-security-policy"];
  expect(policy).toContain("connect-src 'self' https://login.example.org;");
});

test("a language on its way already, by what the browser prefers", async () => {
  const preloads = async (language: string) =>
    /modulepreload" crossorigin href="\.\/assets\/(\w\w)-/.exec(
      (await raw("/", { "accept-language": language })).body.toString().replace(/assets\/(core|index)/g, ""),
    )?.[1];
  expect(await preloads("fr-CA,fr;q=0.9,en;q=0.8")).toBe("fr");
  expect(await preloads("de, sw;q=0.5")).toBe("sw");
  expect(await preloads("en-GB, fr")).toBeUndefined();
  expect(await preloads("__proto__, constructor")).toBeUndefined();
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

test("what a citizen loads first is at most 60 KB of script", async () => {
  const page = (await raw("/")).body.toString();
  const first = [...page.matchAll(/(?:src|href)="\.\/(assets\/[^"]+\.js)"/g)].map(([, path]) => path ?? "");
  expect(first.length).toBeGreaterThanOrEqual(2);
  const languages = assets().filter((name) => /^(fr|es|ar|sw)-/.test(name));
  const size = (name: string) => gzipSync(readFileSync(join(portalFolder, name))).length;
  const largest = Math.max(...languages.map((name) => size(`assets/${name}`)));
  const bytes = first.reduce((sum, name) => sum + size(name), largest);
  expect(bytes).toBeLessThan(60_000);
  expect(bytes).toBeGreaterThan(10_000);
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
