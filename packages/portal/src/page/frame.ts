import type { AuthState } from "@fieldgate/client";
import { html, nothing, type TemplateResult } from "lit";
import { type LanguageCode, languages, type Speech } from "../strings/languages.ts";

interface FrameParts {
  readonly speech: Speech;
  readonly programme: string;
  readonly state: AuthState;
  readonly notice: string | null;
  readonly demo: unknown;
  readonly content: TemplateResult;
  onLanguage(code: LanguageCode): void;
}

/** What is around the content: whose page it is, in which language, and how the network is. */
export function frame({ speech, programme, state, notice, demo, content, onLanguage }: FrameParts): TemplateResult {
  const skip = (event: Event) => {
    ((event.currentTarget as Node).getRootNode() as ShadowRoot).getElementById("main")?.focus();
  };
  const choose = ({ currentTarget }: Event) => onLanguage((currentTarget as HTMLSelectElement).value as LanguageCode);
  return html`<div class="page" lang=${speech.code} dir=${speech.dir}>
    <header>
      <button class="skip" type="button" @click=${skip}>${speech.say("skip")}</button>
      <img src="./icon.svg" alt="" width="36" height="36" />
      <h1><bdi>${programme}</bdi></h1>
      <label class="hidden" for="language">${speech.say("language")}</label>
      <select id="language" @change=${choose}>
        ${languages.map(
          ({ code, name }) =>
            html`<option value=${code} lang=${code} ?selected=${code === speech.code}>${name}</option>`,
        )}
      </select>
    </header>
    <div role="status" class="network">${network(speech, state)}</div>
    <div class="columns">
      <main id="main" tabindex="-1">
        <div role="alert">${notice ? html`<p class="good notice">${notice}</p>` : nothing}</div>
        ${content}
      </main>
      ${demo}
    </div>
  </div>`;
}

function network(speech: Speech, state: AuthState): TemplateResult | typeof nothing {
  if (state.status === "offlineGrace") {
    return html`<p>${speech.say("offlineSignedIn", { time: speech.time(state.until) })}</p>`;
  }
  return navigator.onLine ? nothing : html`<p>${speech.say("offline")}</p>`;
}
