import type { AuthConfig } from "@fieldgate/contract";
import type { StringKey, Strings } from "../strings/en.ts";
import type { LanguageCode } from "../strings/languages.ts";

/** What the service writes into the page, so that nothing has to be asked for before the first form. */
export interface PageConfig {
  /** Where the service believes to be; tenants' settings name it so. */
  readonly baseUrl?: string;
  /** The programme that the address names, or the default one; null where there is none. */
  readonly tenant?: string | null;
  /** What that programme offers; null where it does not exist or could not be read. */
  readonly auth?: AuthConfig | null;
  readonly demo?: DemoNotes;
  /** The language that the browser prefers, where it is not English. */
  readonly language?: { readonly code: LanguageCode; readonly strings: Strings };
}

/** What can be tried in the demo. */
export interface DemoNotes {
  readonly inbox: string;
  readonly card: string;
  readonly docs: string;
  readonly people: readonly {
    readonly way: Extract<StringKey, `way${string}`>;
    readonly who: string;
    readonly values: readonly string[];
  }[];
}

export function readPageConfig(): PageConfig {
  return JSON.parse(document.getElementById("page-config")?.textContent || "{}") as PageConfig;
}

/** This page's own service: whatever name it was opened under. */
export const ownServer = (): string => new URL(".", location.href).href.replace(/\/+$/, "");

/** The service may be reached by several names; what it says of itself is meant for the one in use. */
export function atOwnServer(config: AuthConfig, baseUrl: string | undefined): AuthConfig {
  const adapters = config.adapters.map(({ type, fields }) =>
    fields.serverUrl !== undefined && fields.serverUrl.replace(/\/+$/, "") === baseUrl?.replace(/\/+$/, "")
      ? { type, fields: { ...fields, serverUrl: ownServer() } }
      : { type, fields },
  );
  return { ...config, adapters };
}
