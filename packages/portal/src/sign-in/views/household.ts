import type { SelectionRequiredError } from "@fieldgate/client";
import { html, nothing, type TemplateResult } from "lit";
import { asciiDigits } from "../digits.ts";
import { icons } from "../icons.ts";
import { backButton, field, fieldsOf, heading, message, submitButton, type ViewParts } from "./view.ts";

/** Several people share the phone: who is it? */
export function householdView(parts: ViewParts, choice: SelectionRequiredError): TemplateResult {
  const { speech } = parts;
  return html`${backButton(parts)} ${heading(speech.say("householdTitle"))}
    <p class="hint">${speech.say("householdHint")}</p>
    ${message(parts)} ${choice.birthYearRequired ? withBirthYear(parts, choice) : people(parts, choice)}`;
}

function people({ flow }: ViewParts, choice: SelectionRequiredError): TemplateResult {
  return html`<ul class="ways">
    ${choice.selection.map(
      ({ entityId, label }, index) => html`<li>
        <button class="way" part="button way" type="button" ?data-focus=${index === 0} aria-disabled=${flow.busy}
          @click=${() => flow.choose(choice, entityId)}>
          ${icons.worker}<strong dir="auto">${label}</strong>
        </button>
      </li>`,
    )}
  </ul>`;
}

function withBirthYear(parts: ViewParts, choice: SelectionRequiredError): TemplateResult {
  const { flow, speech } = parts;
  const submit = (event: SubmitEvent) => {
    const { entityId = "", birthYear = "" } = fieldsOf(event);
    const year = asciiDigits(birthYear).trim();
    if (!entityId) flow.fail({ key: "required" });
    else if (!/^\d{4}$/.test(year)) flow.fail({ key: "yearFour" });
    else flow.choose(choice, entityId, Number(year));
  };
  return html`<form aria-labelledby="title" novalidate @submit=${submit}>
    <fieldset>
      <legend class="hidden">${speech.say("householdTitle")}</legend>
      ${choice.selection.map(
        ({ entityId, label }, index) => html`<label class="check choice">
          <input type="radio" name="entityId" value=${entityId} ?data-focus=${index === 0} />
          <span dir="auto">${label}</span>
        </label>`,
      )}
    </fieldset>
    ${field({
      name: "birthYear",
      label: speech.say("birthYear"),
      hint: speech.say("birthYearHint"),
      input: html`<input id="birthYear" name="birthYear" class="short" part="input" inputmode="numeric" maxlength="4"
        autocomplete="bday-year" dir="ltr" required aria-describedby="birthYear-hint trouble" />`,
    })}
    ${submitButton(parts, speech.say("continue")) ?? nothing}
  </form>`;
}
