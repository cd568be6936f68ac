import type { OwnSession } from "@fieldgate/contract";
import { html, nothing, type TemplateResult } from "lit";
import type { Speech } from "../strings/languages.ts";
import type { Devices } from "./devices.ts";

/** The list of where somebody is signed in, each with a button that ends it. */
export function devicesView(speech: Speech, devices: Devices): TemplateResult {
  const { say } = speech;
  const others = devices.list?.filter(({ current }) => !current) ?? [];
  return html`<section class="card frame" aria-labelledby="devices">
    <h2 id="devices">${say("devicesTitle")}</h2>
    <div role="status">${devices.ended ? html`<p class="good">${say("ended")}</p>` : nothing}</div>
    <div role="alert">
      ${devices.trouble ? html`<p class="trouble">${say("devicesAway")}</p>` : nothing}
    </div>
    ${devices.trouble ? html`<button type="button" @click=${() => devices.read()}>${say("tryAgain")}</button>` : nothing}
    ${devices.list && others.length === 0 ? html`<p>${say("noOthers")}</p>` : nothing}
    ${others.length > 0 ? html`<p class="hint">${say("devicesHint")}</p>` : nothing}
    <ul class="devices">
      ${devices.list?.map((session) => device(speech, devices, session)) ?? nothing}
    </ul>
  </section>`;
}

function device(speech: Speech, devices: Devices, session: OwnSession): TemplateResult {
  const { say } = speech;
  const name = session.current ? say("thisDevice") : session.assisted ? say("withHelp") : say("otherDevice");
  const since = say("since", { time: speech.time(Date.parse(session.createdAt)) });
  const used = say("lastUsed", { time: speech.time(Date.parse(session.usedAt)) });
  return html`<li>
    <div>
      <strong>${name}</strong>
      <span class="hint">${since}${session.usedAt === session.createdAt ? "" : html` · ${used}`}</span>
    </div>
    ${
      session.current
        ? nothing
        : html`<button type="button" data-action="end" aria-label=${say("endNamed", { name, time: since })}
            @click=${() => devices.end(session)}>${say("end")}</button>`
    }
  </li>`;
}
