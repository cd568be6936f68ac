import { errorCodes, type Route, routes } from "@fieldgate/contract";
import { expect, test } from "vitest";
import { registerDocsRoutes } from "../../src/routes/docs.ts";
import { registerOpenApiRoute } from "../../src/routes/openapi.ts";
import { startHttp } from "./http-kit.ts";

async function start() {
  const server = await startHttp({ baseUrl: "https://auth.example.org/gate" }, (app) => {
    registerOpenApiRoute(app, "1.2.3");
    registerDocsRoutes(app, "1.2.3");
  });
  const page = async (path: string) => {
    const answer = await fetch(`${server.url}${path}`);
    return { status: answer.status, headers: answer.headers, text: await answer.text() };
  };
  return { ...server, page };
}

const idsOf = (text: string) => new Set([...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));

test("/docs shows every route with its address, an example and its errors", async () => {
  const { page } = await start();
  const { status, text, headers } = await page("/docs");
  expect(status).toBe(200);
  expect(headers.get("content-type")).toBe("text/html; charset=utf-8");
  const ids = idsOf(text);
  for (const [name, route] of Object.entries<Route>(routes)) {
    expect(ids).toContain(name);
    const article = text.slice(
      text.indexOf(`<article id="${name}"`),
      text.indexOf("</article>", text.indexOf(`<article id="${name}"`)),
    );
    expect(article).toContain(`https://auth.example.org/gate${route.path.replace(/:\w+.*/, "")}`);
    for (const code of route.errors) expect(article).toContain(`docs/errors#${code}`);
    const { properties = {} } = (route.body ?? {}) as { properties?: object };
    for (const field of [...Object.keys(properties), ...Object.keys(route.aliases ?? {})]) {
      expect(article).toContain(`<code>${field}</code>`);
    }
  }
});

test("/docs/errors has an anchor for each code: where the type of a problem leads", async () => {
  const { page } = await start();
  const { status, text } = await page("/docs/errors");
  expect(status).toBe(200);
  for (const code of errorCodes) expect(idsOf(text)).toContain(code);
});

test.each(["/docs", "/docs/errors"])(
  "%s works without scripts and other hosts, under a policy that forbids them",
  async (path) => {
    const { page } = await start();
    const { text, headers } = await page(path);
    const policy = headers.get("content-security-policy") ?? "";
    expect(policy).toMatch(/^default-src 'none'; style-src 'self'; /);
    expect(policy).not.toMatch(/unsafe|script-src|https?:|data:|\*/);
    expect(text).not.toMatch(/<script|<style| style=| on[a-z]+=|<iframe|<form/i);
    expect(text).not.toMatch(/(?:src|href)="(?:https?:)?\/\//);
  },
);

test("no link of the pages is broken, also below a path of the host", async () => {
  const { page } = await start();
  const pages = new Map<string, string>();
  for (const from of ["/docs", "/docs/errors"]) pages.set(from, (await page(from)).text);
  for (const [from, text] of pages) {
    for (const [, link = ""] of text.matchAll(/(?:src|href)="([^"]+)"/g)) {
      expect(link, "a link that begins at the root of the host").not.toMatch(/^\//);
      const { pathname, hash } = new URL(link, `http://host${from}`);
      if (!pages.has(pathname)) expect((await page(pathname)).status, `${from}: ${link}`).toBe(200);
      if (hash !== "") expect(idsOf(pages.get(pathname) ?? ""), `${from}: ${link}`).toContain(hash.slice(1));
    }
  }
});

test("/api/openapi.json is the document, with the address of this service", async () => {
  const { page } = await start();
  const { text, headers } = await page("/api/openapi.json");
  expect(headers.get("content-type")).toBe("application/json; charset=utf-8");
  expect(headers.get("cache-control")).toBe("public, max-age=300");
  expect(JSON.parse(text)).toMatchObject({
    openapi: expect.stringMatching(/^3\.1\./),
    info: { version: "1.2.3" },
    servers: [{ url: "https://auth.example.org/gate" }],
  });
});

test("what is put into a page is escaped", async () => {
  const server = await startHttp({ baseUrl: 'https://x.example/"><script>alert(1)</script>' }, (app) =>
    registerDocsRoutes(app, "<b>1</b>"),
  );
  const text = await (await fetch(`${server.url}/docs`)).text();
  expect(text).not.toContain("<script>");
  expect(text).not.toContain("<b>1</b>");
});
