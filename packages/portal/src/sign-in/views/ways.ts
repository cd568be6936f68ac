import { html, nothing, type TemplateResult } from "lit";
import type { StringKey } from "../../strings/en.ts";
import { icons } from "../icons.ts";
import type { Step } from "../step.ts";
import { heading, message, type ViewParts } from "./view.ts";

const words: Partial<Record<Step["name"], { icon: keyof typeof icons; title: StringKey; hint: StringKey }>> = {
  recipient: { icon: "recipient", title: "wayCode", hint: "wayCodeHint" },
  id: { icon: "id", title: "wayId", hint: "wayIdHint" },
  card: { icon: "card", title: "wayCard", hint: "wayCardHint" },
};

/** The choice among the ways in that the programme has. */
export function waysView(parts: ViewParts): TemplateResult {
  const { flow, speech } = parts;
  return html`${heading(speech.say("signInTo", { programme: flow.config.name }))}
    <p class="hint">${speech.say("chooseWay")}</p>
    ${message(parts)}
    <ul class="ways">
      ${flow.citizenSteps.map((step) => {
        const word = words[step.name];
        if (!word) return nothing;
        return html`<li>
          <button class="way" part="button way" type="button" data-way=${step.name} @click=${() => flow.go(step)}>
            ${icons[word.icon]}
            <span><strong>${speech.say(word.title)}</strong><span class="hint">${speech.say(word.hint)}</span></span>
          </button>
        </li>`;
      })}
    </ul>
    ${
      flow.audience === "citizens"
        ? nothing
        : html`<button class="plain" part="button" type="button" data-way="worker" @click=${() => flow.go({ name: "worker" })}>
          ${icons.worker} ${speech.say("wayWorker")}
        </button>`
    }`;
}
