import type { AuthState } from "@fieldgate/client";
import { html, type TemplateResult } from "lit";
import type { Speech } from "../../strings/languages.ts";
import type { Trouble } from "../trouble.ts";
import { heading } from "./view.ts";

export function loadingView(speech: Speech): TemplateResult {
  return html`<p role="status">${speech.say("working")}</p>`;
}

/** Nobody can sign in just now: why, and a way on. */
export function troubleView(speech: Speech, { key }: Trouble, again: () => void): TemplateResult {
  return html`${heading(speech.say("signIn"))}
    <div role="alert"><p class="trouble" part="problem">${speech.say(key)}</p></div>
    <button class="main" part="button main-button" type="button" @click=${again}>${speech.say("tryAgain")}</button>`;
}

/** Somebody is signed in already. */
export function signedInView(speech: Speech, state: AuthState, signOut: () => void): TemplateResult {
  const name = "username" in state ? state.username : "";
  const isWorker = !name.startsWith("self-service:");
  return html`${heading(speech.say("signedIn"))}
    ${isWorker ? html`<p>${speech.say("signedInAs", { name })}</p>` : ""}
    <button part="button" type="button" @click=${signOut}>${speech.say("signOut")}</button>`;
}
