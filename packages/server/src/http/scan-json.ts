import { Fault } from "../fault.ts";
import { fieldName } from "./validation-fault.ts";

const maxDepth = 32;
const poisoned = new Set(["__proto__", "constructor", "prototype"]);

/** An object or array we are inside of. */
interface Level {
  /** The keys seen so far; null in an array. */
  readonly keys: Set<string> | null;
  /** What we are at: a key, or the index in an array. */
  at: string | number;
  /** In an object: whether the next string is a key. */
  keyNext: boolean;
}

const code = { quote: 0x22, comma: 0x2c, colon: 0x3a, openArray: 0x5b, backslash: 0x5c, closeArray: 0x5d } as const;
const openObject = 0x7b;
const closeObject = 0x7d;

/**
 * Walks over text that is known to be JSON and refuses what `JSON.parse` lets through: duplicate keys, keys that
 * poison prototypes, NUL and lone surrogates in strings, and needless depth. Each refusal names the field. What it finds
 * inside the items of the top-level list `lenientList` is returned instead: the first sentence of each item, by its index.
 */
export function scanJson(text: string, lenientList?: string): ReadonlyMap<number, string> {
  const levels: Level[] = [];
  let level: Level | undefined;
  const noted = new Map<number, string>();

  function refuse(reason: string): void {
    const [top, list] = levels;
    if (lenientList === undefined || top?.at !== lenientList || list?.keys !== null || levels.length < 3) {
      throw refusal(levels, reason);
    }
    const index = Number(list.at);
    if (!noted.has(index)) noted.set(index, refusal(levels.slice(2), reason).message);
  }

  function enterKey(inside: Level, keys: Set<string>, key: string): void {
    inside.at = key;
    inside.keyNext = false;
    if (poisoned.has(key)) refuse("has a name that is not allowed.");
    if (keys.has(key)) refuse("is there twice. Send it once.");
    keys.add(key);
  }

  for (let index = 0; index < text.length; index++) {
    switch (text.charCodeAt(index)) {
      case openObject:
      case code.openArray: {
        const inObject = text.charCodeAt(index) === openObject;
        level = { keys: inObject ? new Set() : null, at: inObject ? "" : 0, keyNext: inObject };
        levels.push(level);
        if (levels.length > maxDepth) refuse(`is nested deeper than ${maxDepth} levels.`);
        break;
      }
      case closeObject:
      case code.closeArray:
        levels.pop();
        level = levels.at(-1);
        break;
      case code.comma:
        if (level?.keys) level.keyNext = true;
        else if (level) level.at = Number(level.at) + 1;
        break;
      case code.quote: {
        const end = endOfString(text, index);
        const string = readString(text, index, end);
        if (level?.keys && level.keyNext) enterKey(level, level.keys, string);
        if (string.includes("\0")) refuse("contains the character NUL.");
        if (!string.isWellFormed()) refuse("contains half a surrogate pair.");
        index = end;
        break;
      }
    }
  }
  return noted;
}

/** The index of the closing quote. */
function endOfString(text: string, start: number): number {
  let index = start + 1;
  for (;;) {
    const current = text.charCodeAt(index);
    if (current === code.quote) return index;
    index += current === code.backslash ? 2 : 1;
  }
}

/** `"\u0061"` is `a`: names are compared as what they mean. */
function readString(text: string, start: number, end: number): string {
  const inner = text.slice(start + 1, end);
  return inner.includes("\\") ? JSON.parse(text.slice(start, end + 1)) : inner;
}

function refusal(levels: readonly Level[], reason: string): Fault {
  const path = levels.reduce((before, { keys, at }) => {
    if (keys === null) return `${before}[${at}]`;
    return before === "" || at === "" ? `${before}${at}` : `${before}.${at}`;
  }, "");
  const field = fieldName(path) || '""';
  return new Fault("invalid_request", { field, message: `The field ${field} ${reason}` });
}
