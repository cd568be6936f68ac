import { en, type StringKey, type Strings } from "./en.ts";

/** A language as its speakers call it. */
export interface Language {
  readonly code: string;
  readonly name: string;
  readonly dir: "ltr" | "rtl";
}

export const languages = [
  { code: "en", name: "English", dir: "ltr" },
  { code: "fr", name: "Français", dir: "ltr" },
  { code: "es", name: "Español", dir: "ltr" },
  { code: "ar", name: "العربية", dir: "rtl" },
  { code: "sw", name: "Kiswahili", dir: "ltr" },
] as const satisfies readonly Language[];

export type LanguageCode = (typeof languages)[number]["code"];

// English comes along: whatever does not load, there is something to read.
const loaders: Record<LanguageCode, () => Promise<Strings>> = {
  en: async () => en,
  fr: async () => (await import("./fr.ts")).fr,
  es: async () => (await import("./es.ts")).es,
  ar: async () => (await import("./ar.ts")).ar,
  sw: async () => (await import("./sw.ts")).sw,
};

/** What came with the page need not be fetched. */
export function bringStrings(code: LanguageCode, strings: Strings): void {
  loaders[code] = async () => strings;
}

/** The first of these that we speak: `fr-CA` is spoken as `fr`. */
export function chooseLanguage(wanted: readonly (string | null | undefined)[]): LanguageCode {
  for (const tag of wanted) {
    const [code] = (tag ?? "").toLowerCase().split("-", 1);
    const known = languages.find((language) => language.code === code);
    if (known) return known.code;
  }
  return "en";
}

export const dirOf = (code: LanguageCode): Language["dir"] =>
  languages.find((language) => language.code === code)?.dir ?? "ltr";

/** A language with its sentences. */
export interface Speech {
  readonly code: LanguageCode;
  readonly dir: Language["dir"];
  /** A sentence, with what belongs between its braces. */
  say(key: StringKey, values?: Readonly<Record<string, string | number>>): string;
  /** A time of day; with its day where that is not today. */
  time(at: number | Date): string;
}

export async function loadSpeech(code: LanguageCode): Promise<Speech> {
  try {
    return speechOf(code, await loaders[code]());
  } catch {
    // Offline, and this language was never read here.
    return speechOf("en", en);
  }
}

export const english: Speech = speechOf("en", en);

function speechOf(code: LanguageCode, strings: Strings): Speech {
  return {
    code,
    dir: dirOf(code),
    say: (key, values = {}) => strings[key].replace(/\{(\w+)\}/g, (_, name: string) => String(values[name] ?? "")),
    time(at) {
      const date = new Date(at);
      const isToday = date.toDateString() === new Date().toDateString();
      const style = isToday
        ? ({ timeStyle: "short" } as const)
        : ({ dateStyle: "medium", timeStyle: "short" } as const);
      return new Intl.DateTimeFormat(code, style).format(date);
    },
  };
}
