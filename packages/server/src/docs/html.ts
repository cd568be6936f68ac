/** Markup that is safe to put into a page as it is. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  toString(): string {
    return this.text;
  }
}

type Part = Html | string | number | false | null | undefined | readonly Part[];

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Writes markup; whatever is put in is escaped, unless it is markup itself. */
export function html(strings: TemplateStringsArray, ...parts: Part[]): Html {
  return new Html(strings.map((text, index) => text + (index < parts.length ? render(parts[index]) : "")).join(""));
}

function render(part: Part): string {
  if (part instanceof Html) return part.text;
  if (part === false || part === null || part === undefined) return "";
  if (Array.isArray(part)) return part.map(render).join("");
  return String(part).replace(/[&<>"']/g, (character) => entities[character] as string);
}

/** A sentence of the contract: what stands between backticks is code. */
export function prose(sentence: string): Html {
  return new Html(render(sentence).replace(/`([^`]+)`/g, "<code>$1</code>"));
}
