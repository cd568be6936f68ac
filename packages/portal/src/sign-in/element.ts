import type { AuthManager, AuthState } from "@fieldgate/client";
import type { AuthConfig } from "@fieldgate/contract";
import { html, LitElement, type PropertyValues, type TemplateResult } from "lit";
import { chooseLanguage, english, loadSpeech, type Speech } from "../strings/languages.ts";
import { SignInFlow } from "./flow.ts";
import { colours, controls, layout } from "./styles.ts";
import { type Trouble, troubleOf } from "./trouble.ts";
import { cardView } from "./views/card.ts";
import { codeView } from "./views/code.ts";
import { householdView } from "./views/household.ts";
import { idView } from "./views/id.ts";
import { loadingView, signedInView, troubleView } from "./views/outside.ts";
import { recipientView } from "./views/recipient.ts";
import { waysView } from "./views/ways.ts";
import { workerView } from "./views/worker.ts";
import { type Audience, fetchConfig, openManager } from "./ways.ts";

/**
 * Signs people in, on any page.
 *
 * @example
 * <script type="module" src="https://auth.example.org/sign-in.js"></script>
 * <fieldgate-sign-in server="https://auth.example.org" tenant="kenya"></fieldgate-sign-in>
 *
 * Its `auth` is the AuthManager: `element.auth.fetch("/api/…")` adds the token. `for` is "citizens" or "workers" where only
 * those are meant; `lang` is a language, by default the page's, else the browser's.
 *
 * @fires signed-in with `detail: { username, provider }`, also when somebody is signed in already.
 * @fires signed-out with `detail: { reason }`.
 */
export class FieldgateSignIn extends LitElement {
  static override styles = [colours, controls, layout];
  static override properties = {
    server: {},
    tenant: {},
    language: { attribute: "lang" },
    audience: { attribute: "for" },
    auth: { attribute: false },
    config: { attribute: false },
    speech: { state: true },
  };

  declare server: string;
  declare tenant: string;
  declare language: string;
  declare audience: Audience;
  declare auth: AuthManager | undefined;
  declare config: AuthConfig | undefined;
  declare speech: Speech;
  #flow: SignInFlow | undefined;
  #trouble: Trouble | null = null;
  #unsubscribe: (() => void) | undefined;
  #told: string | undefined;
  #seconds: ReturnType<typeof setInterval> | undefined;
  #focusNext = false;

  constructor() {
    super();
    this.server = "";
    this.tenant = "";
    this.language = "";
    this.audience = "";
    this.speech = english;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    if (this.auth && this.#flow) this.#subscribe(this.auth);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#unsubscribe?.();
    this.#flow?.closeCamera();
    clearInterval(this.#seconds);
    this.#seconds = undefined;
  }

  override willUpdate(changed: PropertyValues): void {
    if (changed.has("language") || !this.hasUpdated) this.#speak();
    const isNamed = this.server !== "" && this.tenant !== "";
    if (isNamed && (changed.has("server") || changed.has("tenant"))) this.open();
  }

  /** Starts, or starts again after the service could not be reached. */
  async open(): Promise<void> {
    this.#trouble = null;
    this.#flow = undefined;
    const server = this.server.replace(/\/+$/, "");
    try {
      const config = this.config?.tenantId === this.tenant ? this.config : await fetchConfig(server, this.tenant);
      this.config = config;
      this.auth ??= openManager(server, config);
      this.#flow = new SignInFlow(this.auth, config, this.audience, (stepChanged) => {
        this.#focusNext ||= stepChanged;
        this.requestUpdate();
      });
      this.#subscribe(this.auth);
      this.auth.initialize().catch(() => this.requestUpdate());
    } catch (error) {
      this.#trouble = troubleOf(error);
    }
    this.requestUpdate();
  }

  override render(): TemplateResult {
    const { speech } = this;
    return html`<div class="frame" part="frame" lang=${speech.code} dir=${speech.dir}>${this.#view()}</div>`;
  }

  override updated(): void {
    const step = this.#flow?.step;
    const isWaiting = step?.name === "code" && step.resend !== undefined && step.resend.at > Date.now() - 1000;
    if (isWaiting) this.#seconds ??= setInterval(() => this.requestUpdate(), 1000);
    else if (this.#seconds) {
      clearInterval(this.#seconds);
      this.#seconds = undefined;
    }
    if (!this.#focusNext) return;
    this.#focusNext = false;
    const find = (selector: string) => this.renderRoot.querySelector<HTMLElement>(selector);
    (find("[data-focus]") ?? find("#title"))?.focus();
  }

  #view(): TemplateResult {
    const { speech, auth } = this;
    const flow = this.#flow;
    if (this.#trouble) return troubleView(speech, this.#trouble, () => this.open());
    if (!flow || !auth) return loadingView(speech);
    const { state } = auth;
    if (state.status === "uninitialized") return loadingView(speech);
    if (personIn(state)) return signedInView(speech, state, () => auth.logout());
    const parts = { flow, speech };
    switch (flow.step.name) {
      case "ways":
        return waysView(parts);
      case "worker":
        return workerView(parts);
      case "recipient":
        return recipientView(parts);
      case "code":
        return codeView(parts, flow.step);
      case "household":
        return householdView(parts, flow.step.choice);
      case "id":
        return idView(parts);
      case "card":
        return cardView(parts, flow.step.camera);
    }
  }

  async #speak(): Promise<void> {
    const around = this.parentElement?.closest("[lang]")?.getAttribute("lang");
    this.speech = await loadSpeech(chooseLanguage([this.language, around, ...navigator.languages]));
  }

  #subscribe(auth: AuthManager): void {
    this.#unsubscribe?.();
    this.#unsubscribe = auth.subscribe((state) => {
      this.#tell(state);
      this.requestUpdate();
    });
  }

  /** Tells the page, once for each person who comes or goes. */
  #tell(state: AuthState): void {
    if (state.status === "uninitialized" || state.status === "signingIn") return;
    const person = personIn(state);
    const news = person ? `${person.provider} ${person.username}` : "";
    if (news === (this.#told ?? "")) return;
    this.#told = news;
    const detail = person ?? { reason: "reason" in state ? state.reason : "logout" };
    if (!person && this.#flow) this.#flow.go(this.#flow.first);
    this.dispatchEvent(new CustomEvent(person ? "signed-in" : "signed-out", { detail, bubbles: true, composed: true }));
  }
}

/** Who counts as signed in. */
export function personIn(state: AuthState): { readonly username: string; readonly provider: string } | null {
  if (state.status !== "signedIn" && state.status !== "refreshing" && state.status !== "offlineGrace") return null;
  return { username: state.username, provider: state.provider };
}

declare global {
  interface HTMLElementTagNameMap {
    "fieldgate-sign-in": FieldgateSignIn;
  }
}
