import { type Component, type ErrorCode, errors, errorsOf, type Route, routes } from "@fieldgate/contract";
import { curlExample } from "./curl-example.ts";
import { type Html, html, prose } from "./html.ts";
import { renderPage } from "./page.ts";
import { exampleOf, fieldsOf } from "./schema-fields.ts";

const titles: Readonly<Record<Route["tag"], string>> = {
  users: "Field workers and tokens",
  citizens: "Citizens",
  sync: "Events of entities",
  tenants: "Tenants",
  service: "The service itself",
};
const sections = Object.entries(titles) as [Route["tag"], string][];

const named = Object.entries<Route>(routes);
const routesOf = (tag: Route["tag"]) => named.filter(([, route]) => route.tag === tag);

/** The reference of every route, made from the contract. */
export function renderReference(service: { readonly baseUrl: string; readonly version: string }): string {
  return renderPage({
    title: "Fieldgate API",
    assets: "docs/",
    version: service.version,
    nav: html`${sections.map(([tag, title]) => navSection(tag, title))}
<p class="more"><a href="docs/errors">All errors</a><br><a href="api/openapi.json">OpenAPI document</a></p>`,
    main: html`<h1>API reference</h1>
<p class="lead">Signs in field workers and citizens, and gives each a token that later calls use.</p>
${basics(service.baseUrl)}
${sections.map(([tag, title]) => section(tag, title, service.baseUrl))}`,
  });
}

function basics(baseUrl: string): Html {
  return html`<section class="basics">
<h2 id="basics">Before you begin</h2>
<dl>
<dt>Address</dt><dd>All paths are below <code>${baseUrl}</code>.</dd>
<dt>Bodies</dt><dd>JSON in and out, with <code>Content-Type: application/json</code>. A field that is not listed here is refused, and so is a key that is there twice.</dd>
<dt>Tokens</dt><dd>A token travels as <code>Authorization: Bearer</code>, never in a URL.</dd>
<dt>Times</dt><dd>Durations are seconds, instants are ISO 8601 in UTC.</dd>
<dt>Errors</dt><dd>Every error is an <code>application/problem+json</code> body. Switch on its <code>code</code>; the <a href="docs/errors">table of errors</a> says what to do.</dd>
</dl>
</section>`;
}

function navSection(tag: Route["tag"], title: string): Html {
  return html`<h2>${title}</h2>
<ul>${routesOf(tag).map(([name, route]) => html`<li><a href="#${name}">${method(route)} ${shortPath(route.path)}</a></li>`)}</ul>`;
}

function section(tag: Route["tag"], title: string, baseUrl: string): Html {
  return html`<section>
<h2 id="${tag}">${title}</h2>
${routesOf(tag).map(([name, route]) => article(name, route, baseUrl))}
</section>`;
}

function article(name: string, route: Route, baseUrl: string): Html {
  return html`<article id="${name}">
<h3><a href="#${name}">${route.summary}</a></h3>
<p class="address">${method(route)} <code>${breakable(route.path)}</code></p>
${route.description && html`<p>${prose(route.description)}</p>`}
${route.bearer && html`<p class="auth">${route.bearer === "required" ? "Needs a Bearer token." : "A Bearer token may be sent."}</p>`}
${inputs("In the path", Object.entries(route.params ?? {}))}
${inputs(
  "Headers",
  Object.entries(route.headers ?? {}).map(([header, { description }]) => [header, description] as const),
)}
${route.body && html`<h4>Body${route.bodyOptional && html` <small>may be left out</small>`}</h4>${fieldTable(route.body, route.aliases)}`}
<h4>Example</h4>
<pre tabindex="0"><code>${curlExample(route, baseUrl)}</code></pre>
${Object.entries(route.response).map(([status, answer]) => success(status, answer))}
<details><summary>Errors</summary>${errorList(errorsOf(route))}</details>
</article>`;
}

function success(status: string, answer: Component | null): Html {
  if (answer === null) return html`<h4>Answer <span class="status">${status}</span></h4><p>No body.</p>`;
  return html`<h4>Answer <span class="status">${status}</span></h4>
<pre tabindex="0"><code>${JSON.stringify(exampleOf(answer), null, 2)}</code></pre>
<details><summary>Fields of the answer</summary>${fieldTable(answer)}</details>`;
}

function inputs(title: string, entries: readonly (readonly [string, string])[]): Html | false {
  if (entries.length === 0) return false;
  return html`<h4>${title}</h4>
<dl class="fields">${entries.map(([name, text]) => html`<dt><code>${name}</code></dt><dd>${prose(text)}</dd>`)}</dl>`;
}

function fieldTable(component: Component, aliases: Readonly<Record<string, string>> = {}): Html {
  const others = (name: string) => Object.keys(aliases).filter((alias) => aliases[alias] === name);
  return html`<dl class="fields">${fieldsOf(component).map(
    ({
      name,
      type,
      required,
      notes,
    }) => html`<dt><code>${name}</code> <span class="type">${type}</span>${!required && html` <span class="optional">optional</span>`}</dt>
<dd>${notes.map((note) => html`${prose(note)} `)}${others(name).map((alias) => html`Also accepted as <code>${alias}</code>.`)}</dd>`,
  )}</dl>`;
}

function errorList(codes: readonly ErrorCode[]): Html {
  const sorted = codes.toSorted((one, other) => errors[one].status - errors[other].status);
  return html`<ul class="errors">${sorted.map(
    (code) =>
      html`<li><span class="status">${errors[code].status}</span> <a href="docs/errors#${code}"><code>${code}</code></a></li>`,
  )}</ul>`;
}

function method(route: Route): Html {
  return html`<span class="method ${route.method.toLowerCase()}">${route.method}</span>`;
}

function shortPath(path: string): string {
  return path.replace(/^\/api\//, "");
}

/** A long path may break after its slashes. */
function breakable(path: string): Html {
  return html`${path.split("/").map((part, index) => html`${index > 0 && html`/<wbr>`}${part}`)}`;
}
