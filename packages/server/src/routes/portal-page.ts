import type { AuthConfig } from "@fieldgate/contract";
import { html } from "../docs/html.ts";
import { renderPage } from "../docs/page.ts";

/** What the page is told, so that it need not ask before the first form. Nothing in it is secret. */
export interface PageFacts {
  readonly baseUrl: string;
  readonly tenant: string | null;
  readonly auth: AuthConfig | null;
  /** What can be tried, in the demo. */
  readonly demo?: object;
}

const place = /(<script type="application\/json" id="page-config">)[^<]*(<\/script>)/;

/** What the build says of the page. */
export interface PortalBuild {
  /** The sentences of each language but English, which is in the script. */
  readonly languages: Readonly<Record<string, object>>;
  /** The hashes of what is written into the page, as a policy names them. */
  readonly inline: { readonly scripts: readonly string[]; readonly styles: readonly string[] };
}

/** The built page with its facts, and the reader's language among them. */
export function fillPage(page: string, facts: PageFacts, language?: { code: string; strings: object }): string {
  const json = JSON.stringify({ ...facts, ...(language && { language }) }).replaceAll("<", "\\u003c");
  return page.replace(place, (_, before: string, after: string) => `${before}${json}${after}`);
}

/** The first language of the browser that is spoken here; nothing for English, which every page has. */
export function languageOf(languages: PortalBuild["languages"], header = ""): string | undefined {
  for (const item of header.split(",")) {
    const [code = ""] = item.trim().toLowerCase().split(/[-;]/, 1);
    if (code === "en") return undefined;
    if (Object.hasOwn(languages, code)) return code;
  }
  return undefined;
}

/**
 * What the portal's page may do: run the scripts that were built into it and its own files, and speak to this service and the tenant's
 * identity providers. Scripts cannot be put in as text anywhere.
 */
export function portalPolicy(inline: PortalBuild["inline"], auth: AuthConfig | null): string {
  const others = (auth?.adapters ?? []).flatMap(({ fields }) =>
    [fields.authority, fields.serverUrl].flatMap((url) => URL.parse(url ?? "")?.origin ?? []),
  );
  const quoted = (hashes: readonly string[]) => hashes.map((hash) => `'${hash}'`).join(" ");
  return [
    "default-src 'none'",
    `script-src 'self' ${quoted(inline.scripts)}`,
    `style-src ${quoted(inline.styles)}`,
    "img-src 'self'",
    `connect-src ${["'self'", ...new Set(others)].join(" ")}`,
    "manifest-src 'self'",
    "worker-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types lit-html fieldgate",
  ].join("; ");
}

/** In place of a portal that was not built. */
export function renderMissingPortal(version: string): string {
  return renderPage({
    title: "Fieldgate",
    assets: "docs/",
    version,
    nav: html`<p><a href="docs">The API</a></p>`,
    main: html`<h1>The portal is not built</h1>
<p>The service is running, and answers its API. To have the sign-in page here as well, build it once and start the service again:</p>
<pre><code>npm run build -w @fieldgate/portal</code></pre>`,
  });
}
