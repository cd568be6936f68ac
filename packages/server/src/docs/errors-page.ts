import { STATUS_CODES } from "node:http";
import { type ErrorEntry, errors } from "@fieldgate/contract";
import { html } from "./html.ts";
import { renderPage } from "./page.ts";

const entries = Object.entries<ErrorEntry>(errors);
const byStatus = [...Map.groupBy(entries, ([, { status }]) => status)].toSorted(([one], [other]) => one - other);

/** Every error with an anchor of its own: where the `type` of a problem leads. */
export function renderErrors(version: string): string {
  return renderPage({
    title: "Fieldgate errors",
    assets: "./",
    version,
    nav: html`<h2>By status</h2>
<ul>${byStatus.map(([status]) => html`<li><a href="#status-${status}">${status} ${STATUS_CODES[status]}</a></li>`)}</ul>
<p class="more"><a href="../docs">API reference</a></p>`,
    main: html`<h1>Errors</h1>
<p class="lead">Every error is an <code>application/problem+json</code> body (RFC 9457). Its <code>code</code> is stable: switch on it.</p>
<pre tabindex="0"><code>${JSON.stringify(sample, null, 2)}</code></pre>
<p>A body that breaks a rule also has <code>field</code>, the name of what is wrong. Answers with 429 and 503 carry <code>Retry-After</code>, in seconds.</p>
${byStatus.map(
  ([status, codes]) => html`<section>
<h2 id="status-${status}">${status} ${STATUS_CODES[status]}</h2>
<dl class="fields wide">${codes.map(
    ([code, { title, detail }]) =>
      html`<dt id="${code}"><a href="#${code}"><code>${code}</code></a> <span class="type">${title}</span></dt><dd>${detail}</dd>`,
  )}</dl>
</section>`,
)}`,
  });
}

const { title, status, detail } = errors.invalid_credentials;
const sample = {
  type: "/docs/errors#invalid_credentials",
  title,
  status,
  detail,
  code: "invalid_credentials",
  error: "invalid_credentials",
  message: detail,
  instance: "urn:uuid:2f1c9a52-6a53-4c0e-9d8f-5b1f0c7c5a11",
};
