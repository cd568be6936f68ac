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

/** The built page with its facts, and with the reader's language on its way. */
export function fillPage(page: string, facts: PageFacts, languageScript: string | undefined): string {
  const json = JSON.stringify(facts).replaceAll("<", "\\u003c");
  const filled = page.replace(place, (_, before: string, after: string) => `${before}${json}${after}`);
  if (languageScript === undefined) return filled;
  return filled.replace("</head>", `<link rel="modulepreload" crossorigin href="./${languageScript}"></head>`);
}

/** The first language of the browser for which there is a script. */
export function languageScriptOf(languages: Readonly<Record<string, string>>, header = ""): string | undefined {
  for (const item of header.split(",")) {
    const [code = ""] = item.trim().toLowerCase().split(/[-;]/, 1);
    if (code === "en") return undefined;
    if (Object.hasOwn(languages, code)) return languages[code];
  }
  return undefined;
}

/**
 * What the portal's page may do: run its own scripts, and speak to this service and the tenant's identity providers. Scripts cannot
 * be put in as text anywhere.
 */
export function portalPolicy(auth: AuthConfig | null): string {
  const others = (auth?.adapters ?? []).flatMap(({ fields }) =>
    [fields.authority, fields.serverUrl].flatMap((url) => URL.parse(url ?? "")?.origin ?? []),
  );
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
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
