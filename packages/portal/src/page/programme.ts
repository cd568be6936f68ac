import { html, nothing, type TemplateResult } from "lit";
import type { Trouble } from "../sign-in/trouble.ts";
import type { Speech } from "../strings/languages.ts";

/** The address names no programme, or one that is not there: which one is meant? */
export function programmeView(
  { say }: Speech,
  trouble: Trouble | null,
  open: (tenant: string) => void,
): TemplateResult {
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const tenant = String(new FormData(event.currentTarget as HTMLFormElement).get("programme"))
      .trim()
      .toLowerCase();
    if (tenant) open(tenant);
  };
  return html`<form class="card" aria-labelledby="which" novalidate @submit=${submit}>
    <h2 id="which">${say("chooseProgramme")}</h2>
    <div role="alert">${trouble ? html`<p class="trouble">${say(trouble.key)}</p>` : nothing}</div>
    <div class="field">
      <label for="programme">${say("programme")}</label>
      <input id="programme" name="programme" autocapitalize="none" autocomplete="organization" spellcheck="false" dir="ltr" />
    </div>
    <button class="main" type="submit">${say("continue")}</button>
  </form>`;
}
