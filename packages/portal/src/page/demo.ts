import { html, type TemplateResult } from "lit";
import type { Speech } from "../strings/languages.ts";
import type { PageConfig } from "./page-config.ts";

/** Says that it is a demo, and what there is to try. Loaded in the demo alone. */
export function demoView({ demo }: PageConfig, speech: Speech): TemplateResult {
  const { say } = speech;
  return html`<aside class="card demo" aria-labelledby="demo">
    <h2 id="demo">${say("demoTitle")}</h2>
    <p>${say("demoHint")}</p>
    <dl>
      ${demo?.people.map(
        ({ way, who, values }) => html`<div>
          <dt>${say(way)}</dt>
          <dd><span dir="auto">${who}</span> ${values.map((value) => html`<code dir="ltr">${value}</code> `)}</dd>
        </div>`,
      )}
    </dl>
    <ul>
      <li><a href=${demo?.inbox ?? ""} target="_blank" rel="noopener">${say("demoInbox")}</a></li>
      <li><a href=${demo?.card ?? ""} target="_blank" rel="noopener">${say("demoCard")}</a></li>
      <li><a href=${demo?.docs ?? ""} target="_blank" rel="noopener">${say("demoDocs")}</a></li>
    </ul>
  </aside>`;
}
