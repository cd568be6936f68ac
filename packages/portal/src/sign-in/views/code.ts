import { html, nothing, type TemplateResult } from "lit";
import { codeIn } from "../digits.ts";
import type { CodeStep } from "../step.ts";
import { backButton, field, fieldsOf, heading, message, submitButton, type ViewParts } from "./view.ts";

/** The code that was sent: typed, pasted, or filled in by the phone. */
export function codeView(parts: ViewParts, step: CodeStep): TemplateResult {
  const { flow, speech } = parts;
  const submit = (event: SubmitEvent) => {
    const code = codeIn(fieldsOf(event).code ?? "");
    if (code === null) flow.fail({ key: "codeSix" });
    else flow.verifyCode(step, code);
  };
  const sent = step.isSecond
    ? speech.say("codeSecondStep", { destination: `\u2066${step.to}\u2069` })
    : speech.say("codeSent", { recipient: `\u2066${step.to}\u2069` });
  return html`${backButton(parts, step.isSecond ? undefined : speech.say("otherRecipient"))}
    ${heading(speech.say("codeTitle"))}
    <p>${sent}</p>
    ${message(parts)}
    <form aria-labelledby="title" novalidate @submit=${submit}>
      ${field({
        name: "code",
        label: speech.say("code"),
        hint: speech.say("codeHint"),
        input: html`<input id="code" name="code" class="code" part="input code" autocomplete="one-time-code"
          inputmode="numeric" dir="ltr" required aria-describedby="code-hint trouble" data-focus @paste=${pasteCode} />`,
      })}
      ${submitButton(parts, speech.say("continue"))}
    </form>
    ${step.resend ? resendButton(parts, step.resend) : nothing}`;
}

/** A whole message may be pasted: its six digits are what is meant. */
function pasteCode(event: ClipboardEvent): void {
  const code = codeIn(event.clipboardData?.getData("text") ?? "");
  if (code === null) return;
  event.preventDefault();
  (event.currentTarget as HTMLInputElement).value = code;
}

function resendButton({ flow, speech }: ViewParts, resend: NonNullable<CodeStep["resend"]>): TemplateResult {
  const seconds = Math.ceil((resend.at - Date.now()) / 1000);
  if (seconds > 0) return html`<p class="hint resend">${speech.say("resendIn", { seconds })}</p>`;
  return html`<button class="plain resend" part="button" type="button" aria-disabled=${flow.busy} @click=${resend.send}>
    ${speech.say("resend")}
  </button>`;
}
