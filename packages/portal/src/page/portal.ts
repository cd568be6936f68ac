import type { AuthManager, AuthState } from "@fieldgate/client";
import type { AuthConfig } from "@fieldgate/contract";
import { html, LitElement, nothing, type TemplateResult } from "lit";
import { personIn } from "../sign-in/element.ts";
import { colours, controls, layout } from "../sign-in/styles.ts";
import { type Trouble, troubleOf } from "../sign-in/trouble.ts";
import { fetchConfig, openManager } from "../sign-in/ways.ts";
import type { StringKey } from "../strings/en.ts";
import {
  bringStrings,
  chooseLanguage,
  english,
  type LanguageCode,
  loadSpeech,
  type Speech,
} from "../strings/languages.ts";
import { returnToNamed, takeCallback } from "./callback.ts";
import type { demoView } from "./demo.ts";
import { Devices } from "./devices.ts";
import { frame } from "./frame.ts";
import { atOwnServer, ownServer, type PageConfig, readPageConfig } from "./page-config.ts";
import { pageStyles } from "./page-styles.ts";
import { programmeView } from "./programme.ts";
import { whoView } from "./who.ts";

const languageKey = "fieldgate:language";

/** The portal: who signs in here, and, once they are in, what that means. */
export class FieldgatePortal extends LitElement {
  static override styles = [colours, controls, layout, pageStyles];
  static override properties = { speech: { state: true } };

  declare speech: Speech;
  readonly #page: PageConfig = readPageConfig();
  readonly #devices = new Devices(() => this.requestUpdate());
  #config: AuthConfig | undefined;
  #auth: AuthManager | undefined;
  #state: AuthState = { status: "uninitialized" };
  #trouble: Trouble | null = null;
  /** Why somebody is back at the door, or sees another's page. */
  #notice: StringKey | null = null;
  #focusNext = false;
  /** Who was last seen on this page; in another tab it may have become somebody else. */
  #last: string | undefined;
  #signsInHere = false;
  #demoView: typeof demoView | undefined;

  constructor() {
    super();
    this.speech = english;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    for (const name of ["online", "offline"]) addEventListener(name, () => this.requestUpdate());
    const { language } = this.#page;
    if (language) bringStrings(language.code, language.strings);
    const wanted = [localStorage.getItem(languageKey), ...navigator.languages];
    this.#speak(chooseLanguage(wanted));
    if (!returnToNamed()) this.#open(new URLSearchParams(location.search).get("tenant") ?? this.#page.tenant ?? "");
  }

  override render(): TemplateResult {
    const { speech } = this;
    return frame({
      speech,
      programme: this.#config?.name ?? "Fieldgate",
      state: this.#state,
      notice: this.#notice && speech.say(this.#notice),
      demo: this.#demoView?.(this.#page, speech) ?? nothing,
      onLanguage: (code) => {
        localStorage.setItem(languageKey, code);
        this.#speak(code);
      },
      content: this.#content(),
    });
  }

  /** Who came in by keyboard or by ear is led to what is new. */
  override updated(): void {
    if (!this.#focusNext) return;
    this.#focusNext = false;
    const find = (id: string) => this.renderRoot.querySelector<HTMLElement>(id);
    (find("#who") ?? find("#main"))?.focus();
  }

  #content(): TemplateResult {
    const { speech } = this;
    if (!this.#config || !this.#auth) {
      if (this.#trouble?.key === "unreachable") return this.#retry(this.#trouble);
      return programmeView(speech, this.#trouble, (tenant) => location.assign(`?tenant=${encodeURIComponent(tenant)}`));
    }
    const auth = this.#auth;
    if (personIn(this.#state)) {
      return whoView({
        speech,
        config: this.#config,
        state: this.#state,
        devices: this.#devices,
        onSignOut: () => auth.logout(),
      });
    }
    return html`<fieldgate-sign-in class="card" .config=${this.#config} .auth=${auth} server=${ownServer()}
      tenant=${this.#config.tenantId} lang=${speech.code}></fieldgate-sign-in>`;
  }

  #retry({ key }: Trouble): TemplateResult {
    return html`<section class="card frame">
      <div role="alert"><p class="trouble">${this.speech.say(key)}</p></div>
      <button class="main" type="button" @click=${() => location.reload()}>${this.speech.say("tryAgain")}</button>
    </section>`;
  }

  async #open(tenant: string): Promise<void> {
    const { auth: given, baseUrl, demo } = this.#page;
    if (demo) this.#showDemo();
    if (tenant === "") return this.requestUpdate();
    try {
      const config = given?.tenantId === tenant ? given : await fetchConfig(ownServer(), tenant);
      this.#config = atOwnServer(config, baseUrl);
      this.#auth = openManager(ownServer(), this.#config);
      this.#auth.subscribe((state) => this.#onState(state));
      document.title = config.name;
      await this.#auth.initialize();
      await takeCallback(this.#auth, this.#config).catch((error) => {
        this.#notice = troubleOf(error).key;
      });
    } catch (error) {
      this.#trouble = troubleOf(error);
    }
    this.requestUpdate();
  }

  #onState(state: AuthState): void {
    // While somebody signs in, what is on the screen stays there.
    if (state.status === "signingIn") this.#signsInHere = true;
    else this.#settle(state);
    this.requestUpdate();
  }

  #settle(state: AuthState): void {
    const before = personIn(this.#state);
    const now = personIn(state);
    const isStart = this.#state.status === "uninitialized";
    this.#state = state;
    if (isStart && !now) this.#notice = state.status === "expired" ? endNotice(state) : null;
    if (before?.username === now?.username && before?.provider === now?.provider) return;
    this.#focusNext = !isStart;
    if (now && this.#auth) {
      const isOther = this.#last !== undefined && this.#last !== now.username && !this.#signsInHere;
      this.#notice = isOther ? "otherPerson" : null;
      this.#last = now.username;
      this.#devices.open(this.#auth);
    } else {
      this.#notice = endNotice(state);
    }
    this.#signsInHere = false;
  }

  async #showDemo(): Promise<void> {
    this.#demoView = (await import("./demo.ts")).demoView;
    this.requestUpdate();
  }

  async #speak(code: LanguageCode): Promise<void> {
    this.speech = await loadSpeech(code);
    document.documentElement.lang = this.speech.code;
    document.documentElement.dir = this.speech.dir;
  }
}

/** What to tell somebody who is at the door again. */
function endNotice(state: AuthState): StringKey | null {
  if (state.status === "signedOut") return state.reason === "logout" ? "endedHere" : null;
  if (state.status !== "expired") return null;
  return state.reason === "session_revoked" ? "endedElsewhere" : "endedTime";
}
