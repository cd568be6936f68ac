import { Fault } from "../fault.ts";
import { scanJson } from "./scan-json.ts";

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

const problem = Symbol("problem");

/** What is wrong inside an item of a lenient list, as a sentence; null where nothing is. */
export function problemOfItem(item: object): string | null {
  return (item as { [problem]?: string })[problem] ?? null;
}

/**
 * Reads a JSON object as every other reader would: whatever two parsers might understand differently (duplicate
 * keys, broken UTF-8, a byte order mark, lone surrogates) or that is only ever an attack (`__proto__`, NUL) is refused.
 * Inside the items of `lenientList` it is only noted, for `problemOfItem`.
 */
export function parseStrictJson(bytes: Uint8Array, lenientList?: string): Record<string, unknown> {
  const text = decode(bytes);
  const value = parse(text);
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new Fault("invalid_request", { message: "The body must be a JSON object." });
  }
  const problems = scanJson(text, lenientList);
  if (problems.size > 0 && lenientList !== undefined) {
    const items = (value as Record<string, unknown[]>)[lenientList] ?? [];
    for (const [index, sentence] of problems) Object.assign(items[index] as object, { [problem]: sentence });
  }
  return value as Record<string, unknown>;
}

function decode(bytes: Uint8Array): string {
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch (cause) {
    throw new Fault("invalid_request", { cause, message: "The body is not valid UTF-8." });
  }
  if (text.startsWith("\uFEFF")) {
    throw new Fault("invalid_request", { message: "The body starts with a byte order mark. Send it without one." });
  }
  return text;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own message quotes the text, which may hold a password: it goes nowhere, not even to the log.
    throw new Fault("invalid_request", { message: "The body is not valid JSON." });
  }
}
