import { html, nothing, type TemplateResult } from "lit";
import { providersOf } from "../ways.ts";
import { backButton, field, fieldsOf, heading, message, submitButton, type ViewParts } from "./view.ts";

/** For those who work for the programme: their organisation's account, or username and password. */
export function workerView(parts: ViewParts): TemplateResult {
  const { flow, speech } = parts;
  const providers = providersOf(flow.config);
  const submit = (event: SubmitEvent) => {
    const { username = "", password = "" } = fieldsOf(event);
    if (!username.trim() || !password) flow.fail({ key: "required" });
    else flow.password(username.trim(), password);
  };
  return html`${backButton(parts)} ${heading(speech.say("workerTitle"))} ${message(parts)}
    ${providers.map(
      (provider) =>
        html`<button class="main" part="button provider-button" type="button" data-provider=${provider.type}
          aria-disabled=${flow.busy} @click=${() => flow.provider(provider)}>
          ${speech.say("provider", { name: provider.name })}
        </button>`,
    )}
    ${providers.length > 0 ? html`<p class="or">${speech.say("or")}</p>` : nothing}
    <form aria-labelledby="title" novalidate @submit=${submit}>
      ${field({
        name: "username",
        label: speech.say("username"),
        input: html`<input id="username" name="username" part="input" autocomplete="username" autocapitalize="none"
          spellcheck="false" dir="ltr" required data-focus />`,
      })}
      ${field({
        name: "password",
        label: speech.say("password"),
        input: html`<input id="password" name="password" part="input" type="password" dir="ltr"
          autocomplete="current-password" required />`,
      })}
      <label class="check"><input type="checkbox" @change=${showPassword} /> ${speech.say("showPassword")}</label>
      ${submitButton(parts, speech.say("signIn"))}
    </form>`;
}

function showPassword({ currentTarget }: Event): void {
  const box = currentTarget as HTMLInputElement;
  const input = box.form?.elements.namedItem("password") as HTMLInputElement;
  input.type = box.checked ? "text" : "password";
}
