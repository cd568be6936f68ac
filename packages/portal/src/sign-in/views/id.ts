import { html, type TemplateResult } from "lit";
import { birthDateOf } from "../digits.ts";
import { backButton, field, fieldsOf, heading, message, submitButton, type ViewParts } from "./view.ts";

/** ID number and date of birth. Day, month and year apart: nobody has to know which comes first. */
export function idView(parts: ViewParts): TemplateResult {
  const { flow, speech } = parts;
  const yearAlone = flow.config.birthYearAlone ?? true;
  const submit = (event: SubmitEvent) => {
    const { idNumber = "", year = "", month = "", day = "" } = fieldsOf(event);
    const birth = birthDateOf({ year, month, day }, yearAlone);
    if (!idNumber.trim()) flow.fail({ key: "invalid_id_number" });
    else if ("wrong" in birth) flow.fail({ key: birth.wrong });
    else flow.nationalId(idNumber.trim(), birth.date);
  };
  return html`${backButton(parts)} ${heading(speech.say("idTitle"))} ${message(parts)}
    <form aria-labelledby="title" novalidate @submit=${submit}>
      ${field({
        name: "idNumber",
        label: speech.say("idNumber"),
        hint: speech.say("idNumberHint"),
        input: html`<input id="idNumber" name="idNumber" part="input" autocomplete="off" autocapitalize="characters"
          spellcheck="false" dir="ltr" required aria-describedby="idNumber-hint trouble" data-focus />`,
      })}
      <fieldset aria-describedby="birth-hint">
        <legend>${speech.say("birthDate")}</legend>
        <p class="hint" id="birth-hint">${yearAlone ? speech.say("birthDateHint") : speech.say("dateWhole")}</p>
        <div class="date">
          ${field({
            name: "day",
            label: speech.say("day"),
            input: html`<input id="day" name="day" part="input" inputmode="numeric" maxlength="2" autocomplete="bday-day"
              dir="ltr" />`,
          })}
          ${field({
            name: "month",
            label: speech.say("month"),
            input: html`<select id="month" name="month" part="input" autocomplete="bday-month">
              <option value=""></option>
              ${months(speech.code).map((name, index) => html`<option value=${index + 1}>${index + 1} · ${name}</option>`)}
            </select>`,
          })}
          ${field({
            name: "year",
            label: speech.say("year"),
            input: html`<input id="year" name="year" part="input" inputmode="numeric" maxlength="4" autocomplete="bday-year"
              dir="ltr" required />`,
          })}
        </div>
      </fieldset>
      ${submitButton(parts, speech.say("continue"))}
    </form>`;
}

function months(language: string): string[] {
  const format = new Intl.DateTimeFormat(language, { month: "long", timeZone: "UTC" });
  return Array.from({ length: 12 }, (_, month) => format.format(Date.UTC(2000, month, 15)));
}
