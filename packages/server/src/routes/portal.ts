import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { tenantIdPattern } from "@fieldgate/contract";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Fault } from "../fault.ts";
import type { GateRequest } from "../http/messages.ts";
import { pagePolicy, publicForAWhile } from "../http/security-headers.ts";
import { compressed, entityTag, isKept, loadStaticFiles, negotiate, type StaticFile } from "../http/static-files.ts";
import { authConfigOf } from "../people/auth-config.ts";
import type { Services } from "../services.ts";
import { VerifiedCache } from "../tokens/verified-cache.ts";
import {
  fillPage,
  languageOf,
  type PageFacts,
  type PortalBuild,
  portalPolicy,
  renderMissingPortal,
} from "./portal-page.ts";

export interface PortalParts {
  /** Where the built portal lies; left out, where the workspace builds it. */
  readonly folder?: string;
  /** What the page says can be tried, in the demo. */
  readonly demo?: object;
}

/** In the workspace, or in the published package. */
const places = ["../../../portal/dist", "../../portal"].map((path) => fileURLToPath(new URL(path, import.meta.url)));
const isBuilt = (folder: string) => existsSync(join(folder, "index.html"));
/** Their names have a hash in them: what they hold never changes. */
const forEver = "public, max-age=31536000, immutable";
/** Programmes times languages; each takes some 200 KB. */
const keptPages = 64;
const form = new RegExp(tenantIdPattern);

/** The portal: the page at `/`, and what belongs to it. Without a built one, a page that says how to build it. */
export function registerPortalRoutes(
  app: FastifyInstance,
  services: Services,
  version: string,
  parts: PortalParts = {},
): void {
  const folder = parts.folder ?? places.find(isBuilt);
  const meter = app.httpSettings.metrics.requestMeter("/", "GET");
  if (folder === undefined || !isBuilt(folder)) {
    const missing = Buffer.from(renderMissingPortal(version));
    const headers = { "content-type": "text/html; charset=utf-8", "content-security-policy": pagePolicy };
    app.get("/", { config: { meter } }, (_request, reply) => reply.code(404).headers(headers).send(missing));
    return;
  }
  const files = loadStaticFiles(folder);
  const { languages, inline } = JSON.parse(readFileSync(join(folder, "portal.json"), "utf8")) as PortalBuild;
  const page = files.get("index.html")?.plain.toString() ?? "";
  const pages = new VerifiedCache<Promise<StaticFile>>(keptPages);

  /** A page is compressed once for each programme and language. */
  function pageFor(facts: PageFacts, code: string | undefined): Promise<StaticFile> {
    const key = `${code} ${JSON.stringify(facts)}`;
    const known = pages.get(key);
    if (known) return known;
    const strings = languages[code ?? ""];
    const text = fillPage(page, facts, code !== undefined && strings ? { code, strings } : undefined);
    const made = compressed("text/html; charset=utf-8", Buffer.from(text));
    pages.set(key, made);
    return made;
  }

  app.get("/", { config: { meter } }, async (request, reply) => {
    const facts = { ...(await factsOf(services, request)), ...(parts.demo && { demo: parts.demo }) };
    const file = await pageFor(facts, languageOf(languages, request.headers["accept-language"]));
    const policy = portalPolicy(inline, facts.auth);
    const { body, headers } = negotiate(file, request.headers["accept-encoding"]);
    const etag = entityTag(policy, body);
    reply.headers({
      ...headers,
      etag,
      "content-security-policy": policy,
      "permissions-policy": "camera=(self), microphone=(), geolocation=()",
      "cache-control": "no-cache",
      vary: "Accept-Language, Accept-Encoding",
    });
    if (isKept(etag, request.headers["if-none-match"])) return reply.code(304).send();
    return reply.send(body);
  });
  for (const [name, file] of files) {
    if (name !== "index.html" && !name.startsWith("assets/")) serve(app, `/${name}`, () => file);
  }
  serve(app, "/assets/*", (path) => files.get(path.slice(1)));
}

function serve(app: FastifyInstance, route: string, find: (path: string) => StaticFile | undefined): void {
  const meter = app.httpSettings.metrics.requestMeter(route, "GET");
  const isAsset = route.startsWith("/assets/");
  const isWorker = route === "/sw.js";
  const own = {
    // A worker that is kept too long would keep old pages alive.
    "cache-control": isAsset ? forEver : isWorker ? "no-cache" : publicForAWhile,
    // What a worker fetches goes by its own policy, not by its page's.
    ...(isWorker && { "content-security-policy": "default-src 'none'; connect-src 'self'" }),
  };
  app.get(route, { config: { meter } }, (request, reply): FastifyReply => {
    const file = find(request.url.replace(/\?.*$/s, ""));
    if (!file) throw new Fault("not_found");
    const { body, headers } = negotiate(file, request.headers["accept-encoding"]);
    return reply.headers({ ...headers, ...own }).send(body);
  });
}

/** The tenant that the host has, that the address asks for, or the deployment's own. A database that is away costs only the facts. */
async function factsOf({ config, tenants }: Services, request: FastifyRequest): Promise<PageFacts> {
  const { baseUrl, defaultTenant } = config;
  const asked = new URLSearchParams(request.url.split("?")[1]).get("tenant");
  const raw = request.raw as GateRequest;
  try {
    const byHost = await tenants.findIdByHost(raw.gate.forwarding.host(raw));
    const tenant = byHost ?? (asked !== null && form.test(asked) ? asked : defaultTenant);
    const auth = tenant === null ? null : authConfigOf(await tenants.find(tenant));
    // The page knows what its address asks for: invented names must not make pages of their own.
    return { baseUrl, tenant: auth ? tenant : (byHost ?? defaultTenant), auth };
  } catch {
    // The page itself asks again, and says that the service is away.
    return { baseUrl, tenant: defaultTenant, auth: null };
  }
}
