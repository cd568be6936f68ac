import type { OutboundMessage } from "./channel.ts";
import type { Medium } from "./outbox.ts";

/** What a tenant may say in its own words: by medium, then by language. `{code}`, `{minutes}` and `{name}` are filled in. */
export type Templates = { readonly [M in Medium]?: { readonly [language: string]: string } };

const languages: Readonly<Record<string, { readonly subject: string; readonly text: string }>> = {
  en: {
    subject: "Your code for {name}",
    text: "{code} is your code for {name}. It is good for {minutes} minutes. Give it to nobody.",
  },
  fr: {
    subject: "Votre code pour {name}",
    text: "{code} est votre code pour {name}. Il est valable {minutes} minutes. Ne le donnez à personne.",
  },
  es: {
    subject: "Su código para {name}",
    text: "{code} es su código para {name}. Vale {minutes} minutos. No se lo dé a nadie.",
  },
  ar: {
    subject: "رمزك لدى {name}",
    text: "{code} هو رمزك لدى {name}. صالح لمدة {minutes} دقائق. لا تعطه لأحد.",
  },
  sw: {
    subject: "Nambari yako ya {name}",
    text: "{code} ni nambari yako ya {name}. Inatumika kwa dakika {minutes}. Usimpe mtu yeyote.",
  },
};

/** What is said to an address when the identifiers of its owner were changed. */
const notices: Readonly<Record<string, { readonly subject: string; readonly text: string }>> = {
  en: {
    subject: "Your sign-in details for {name}",
    text: "Your sign-in details for {name} were changed. If you did not ask for this, tell a field worker at once.",
  },
  fr: {
    subject: "Vos informations de connexion pour {name}",
    text: "Vos informations de connexion pour {name} ont changé. Si vous ne l'avez pas demandé, prévenez vite un agent de terrain.",
  },
  es: {
    subject: "Sus datos de acceso para {name}",
    text: "Sus datos de acceso para {name} han cambiado. Si usted no lo pidió, avise enseguida a un trabajador de campo.",
  },
  ar: {
    subject: "بيانات دخولك لدى {name}",
    text: "تم تغيير بيانات دخولك لدى {name}. إن لم تطلب ذلك فأخبر موظفًا ميدانيًا فورًا.",
  },
  sw: {
    subject: "Taarifa zako za kuingia za {name}",
    text: "Taarifa zako za kuingia za {name} zimebadilishwa. Kama hukuomba hivi, mwambie mhudumu wa nyanjani mara moja.",
  },
};

/** The words of a notice: it holds nothing but the tenant's name. */
export function composeNotice({
  name,
  languages: asked,
}: Pick<MessageFacts, "name" | "languages">): Pick<OutboundMessage, "subject" | "text"> {
  const wanted = asked.flatMap((language) => (language ? [language, baseOf(language)] : []));
  const language = wanted.find((each) => Object.hasOwn(notices, each)) ?? "en";
  const { subject = "", text = "" } = notices[language] ?? {};
  return { subject: subject.replaceAll("{name}", () => name), text: text.replaceAll("{name}", () => name) };
}

export interface MessageFacts {
  readonly code: string;
  readonly minutes: number;
  /** The tenant's name. */
  readonly name: string;
  /** The host of the page that asks for the code: a phone then offers to fill it in there, and only there. */
  readonly host: string;
  readonly medium: Medium;
  /** What the person prefers, then what the tenant does. */
  readonly languages: readonly (string | null | undefined)[];
  readonly templates: Templates | undefined;
}

/** The words of a message. Its last line binds the code to the page it is for. */
export function composeMessage(facts: MessageFacts): Pick<OutboundMessage, "subject" | "text"> {
  const own = facts.templates?.[facts.medium] ?? {};
  const wanted = [...facts.languages, "en"].flatMap((language) => (language ? [language, baseOf(language)] : []));
  const language = wanted.find((each) => own[each] !== undefined || languages[each] !== undefined) ?? "en";
  const standard = languages[language] ?? languages.en;
  const fill = (text: string) =>
    text.replace(/\{(code|minutes|name)\}/g, (_, key: "code" | "minutes" | "name") => String(facts[key]));
  return {
    subject: fill(standard?.subject ?? ""),
    text: `${fill(own[language] ?? standard?.text ?? "")}\n\n@${facts.host} #${facts.code}`,
  };
}

const baseOf = (language: string) => language.split("-", 1)[0] ?? language;

/** Why a template cannot be used; null where it can. */
export function templateProblem(template: string): string | null {
  if (!template.includes("{code}")) return "must contain {code}";
  if ([...template].length > 500) return "must have at most 500 characters";
  return /[\p{Cc}]/u.test(template.replaceAll("\n", "")) ? "must not contain control characters" : null;
}
