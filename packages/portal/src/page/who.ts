import type { AuthState } from "@fieldgate/client";
import type { AuthConfig, CurrentUser } from "@fieldgate/contract";
import { html, nothing, type TemplateResult } from "lit";
import type { StringKey } from "../strings/en.ts";
import type { Speech } from "../strings/languages.ts";
import type { Devices } from "./devices.ts";
import { devicesView } from "./devices-view.ts";

interface WhoParts {
  readonly speech: Speech;
  readonly config: AuthConfig;
  readonly state: AuthState;
  readonly devices: Devices;
  onSignOut(): void;
}

const how: Readonly<Record<string, StringKey>> = {
  otp: "howOtp",
  id: "howId",
  password: "howPassword",
  oidc_a: "howOidc",
  oidc_b: "howOidc",
};
const roleNames: Readonly<Record<string, StringKey>> = {
  "field-worker": "roleFieldWorker",
  supervisor: "roleSupervisor",
  admin: "roleAdmin",
};

/** Who is signed in, and what that means, in plain words. */
export function whoView({ speech, config, state, devices, onSignOut }: WhoParts): TemplateResult {
  const { say } = speech;
  const { username = "", provider = "" } = state as { username?: string; provider?: string };
  const isCitizen = username.startsWith("self-service:");
  const own = devices.list?.find(({ current }) => current);
  const until = isCitizen && own ? say("untilCitizen", { time: speech.time(Date.parse(own.expiresAt)) }) : null;
  const lines = [
    say(isCitizen ? "whoCitizen" : "whoWorker", { programme: config.name }),
    say(how[provider] ?? "howOther"),
    ...(devices.user?.roles.length
      ? [say("roles", { roles: devices.user.roles.map((role) => roleName(speech, role)).join(", ") })]
      : []),
    say(isCitizen ? "mayCitizen" : "mayWorker"),
    isCitizen ? until : say("untilWorker"),
  ];
  return html`<section class="card frame" aria-labelledby="who">
      <h2 id="who" tabindex="-1">${isCitizen ? say("whoPerson") : say("whoName", { name: username })}</h2>
      ${lines.map((line) => (line ? html`<p>${line}</p>` : nothing))}
      <button type="button" data-action="sign-out" @click=${onSignOut}>${say("signOut")}</button>
      ${devices.user ? technical(speech, devices.user) : nothing}
    </section>
    ${devicesView(speech, devices)}`;
}

function roleName({ say }: Speech, role: string): string {
  const key = roleNames[role];
  return key ? say(key) : role;
}

function technical({ say }: Speech, user: CurrentUser): TemplateResult {
  const facts = Object.entries(user).filter(([, value]) => String(value) !== "");
  return html`<details>
    <summary>${say("details")}</summary>
    <dl dir="ltr">${facts.map(([name, value]) => html`<dt>${name}</dt><dd>${String(value)}</dd>`)}</dl>
  </details>`;
}
