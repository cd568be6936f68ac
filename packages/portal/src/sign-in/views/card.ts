import { html, type TemplateResult } from "lit";
import { ref } from "lit/directives/ref.js";
import { backButton, field, fieldsOf, heading, message, submitButton, type ViewParts } from "./view.ts";

/** The card: by camera, by a photo, or as text. */
export function cardView(parts: ViewParts, camera: boolean): TemplateResult {
  const { speech } = parts;
  return html`${backButton(parts)} ${heading(speech.say("cardTitle"))} ${message(parts)}
    ${camera ? cameraPicture(parts) : waysToRead(parts)}`;
}

function cameraPicture({ flow, speech }: ViewParts): TemplateResult {
  const show = (video?: Element) => {
    if (video) flow.scan(video as HTMLVideoElement);
  };
  return html`<p role="status">${speech.say("cameraLooking")}</p>
    <video part="video" playsinline muted aria-label=${speech.say("cameraPicture")} ${ref(show)}></video>
    <button class="plain" part="button" type="button" data-focus @click=${() => flow.go({ name: "card", camera: false })}>
      ${speech.say("closeCamera")}
    </button>`;
}

function waysToRead(parts: ViewParts): TemplateResult {
  const { flow, speech } = parts;
  const choose = ({ currentTarget }: Event) => {
    const input = currentTarget as HTMLInputElement;
    const [file] = input.files ?? [];
    if (file) flow.picture(file);
    // The same photo may be chosen again.
    input.value = "";
  };
  const submit = (event: SubmitEvent) => {
    // As it is: a space at its end belongs to it. A line's end does not.
    const text = (fieldsOf(event).card ?? "").replace(/[\r\n]+/g, "");
    if (text.trim() === "") flow.fail({ key: "required" });
    else flow.card(text);
  };
  return html`<button class="main" part="button main-button" type="button" data-focus aria-disabled=${flow.busy}
      @click=${() => flow.openCamera()}>
      ${flow.busy ? speech.say("working") : speech.say("openCamera")}
    </button>
    <label class="file" part="button file-button">
      ${speech.say("choosePicture")}
      <input type="file" accept="image/*" @change=${choose} />
    </label>
    <details>
      <summary>${speech.say("typeCard")}</summary>
      <form aria-labelledby="title" novalidate @submit=${submit}>
        ${field({
          name: "card",
          label: speech.say("cardText"),
          input: html`<textarea id="card" name="card" part="input" rows="4" autocomplete="off" spellcheck="false" dir="ltr"
            autocapitalize="characters" aria-describedby="trouble"></textarea>`,
        })}
        ${submitButton(parts, speech.say("continue"))}
      </form>
    </details>`;
}
