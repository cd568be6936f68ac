import { html, type TemplateResult } from "lit";
import { backButton, field, fieldsOf, heading, message, submitButton, type ViewParts } from "./view.ts";

/** Where the code is to go. */
export function recipientView(parts: ViewParts): TemplateResult {
  const { flow, speech } = parts;
  const submit = (event: SubmitEvent) => {
    const recipient = (fieldsOf(event).recipient ?? "").trim();
    if (recipient.length < 3) flow.fail({ key: "invalid_recipient" });
    else flow.requestCode(recipient);
  };
  return html`${backButton(parts)} ${heading(speech.say("wayCode"))} ${message(parts)}
    <form aria-labelledby="title" novalidate @submit=${submit}>
      ${field({
        name: "recipient",
        label: speech.say("recipient"),
        hint: speech.say("recipientHint"),
        input: html`<input id="recipient" name="recipient" part="input" autocomplete="username" autocapitalize="none"
          spellcheck="false" dir="ltr" required aria-describedby="recipient-hint trouble" data-focus />`,
      })}
      ${submitButton(parts, speech.say("sendCode"))}
    </form>`;
}
