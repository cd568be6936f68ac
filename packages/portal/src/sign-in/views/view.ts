import { html, nothing, type TemplateResult } from "lit";
import type { Speech } from "../../strings/languages.ts";
import type { SignInFlow } from "../flow.ts";
import { icons } from "../icons.ts";

/** What every view is given. */
export interface ViewParts {
  readonly flow: SignInFlow;
  readonly speech: Speech;
}

/** The form's text fields by their names. */
export function fieldsOf(event: SubmitEvent): Readonly<Record<string, string>> {
  event.preventDefault();
  const data = new FormData(event.currentTarget as HTMLFormElement);
  return Object.fromEntries([...data].map(([name, value]) => [name, String(value)]));
}

export function heading(text: string): TemplateResult {
  return html`<h2 id="title" part="heading" tabindex="-1">${text}</h2>`;
}

/** What went wrong, or well: read out when it appears. */
export function message({ flow, speech }: ViewParts): TemplateResult {
  const { trouble, status } = flow;
  const time = trouble?.until === undefined ? "" : speech.time(trouble.until);
  const sentence = trouble && speech.say(trouble.key, { time, name: trouble.name ?? "" });
  return html`<div role="alert" id="trouble">
      ${sentence ? html`<p class="trouble" part="problem">${sentence}</p>` : nothing}
    </div>
    <div role="status">${status ? html`<p class="good" part="status">${speech.say(status)}</p>` : nothing}</div>`;
}

export function submitButton({ flow, speech }: ViewParts, text: string): TemplateResult {
  return html`<button class="main" part="button main-button" type="submit" aria-disabled=${flow.busy}>
    ${flow.busy ? speech.say("working") : text}
  </button>`;
}

export function backButton({ flow, speech }: ViewParts, text = speech.say("back")): TemplateResult | typeof nothing {
  if (flow.step.name === flow.first.name) return nothing;
  return html`<button class="plain back" part="button back-button" type="button" @click=${() => flow.go(flow.first)}>
    ${icons.back} ${text}
  </button>`;
}

interface FieldOptions {
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  /** The input, with `id=${name}` and `aria-describedby=${name}-hint`. */
  readonly input: TemplateResult;
}

export function field({ name, label, hint, input }: FieldOptions): TemplateResult {
  return html`<div class="field">
    <label for=${name}>${label}</label>
    ${hint ? html`<p class="hint" id="${name}-hint">${hint}</p>` : nothing} ${input}
  </div>`;
}
