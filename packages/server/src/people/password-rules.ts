import type { MatchExtended, ZxcvbnFactory } from "@zxcvbn-ts/core";
import { foldUsername } from "./username.ts";

export interface PasswordContext {
  readonly username: string;
  readonly tenantId: string;
  readonly tenantName: string;
  /** In code points. */
  readonly minLength: number;
}

/** Longer ones would be work for nothing; they are refused, never cut. */
export const maxPasswordBytes = 1024;

/** Ten thousand million guesses: what a stolen hash would have to withstand, with argon2id's cost on each. */
const enoughGuesses = 1e10;

/** How much is estimated at once: the work grows with the square of it. */
const estimatedLength = 64;

let loading: Promise<ZxcvbnFactory> | undefined;

/** Loaded when a password is first set: its dictionaries are megabytes that a running service rarely needs. */
function loadEstimator(): Promise<ZxcvbnFactory> {
  loading ??= Promise.all([import("@zxcvbn-ts/core"), import("@zxcvbn-ts/language-common")]).then(
    ([{ ZxcvbnFactory }, { dictionary, adjacencyGraphs }]) =>
      new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs, maxLength: estimatedLength }),
  );
  return loading;
}

/** The names around a person that an attacker tries first, whole and in their parts. */
function namesAround({ username, tenantId, tenantName }: PasswordContext): string[] {
  const names = [username, tenantId, tenantName, "fieldgate"].map(foldUsername);
  const whole = names
    .flatMap((name) => [name, name.replace(/[^\p{L}\p{N}]+/gu, "")])
    .filter((name) => name.length >= 3);
  const parts = names.flatMap((name) => name.split(/[^\p{L}\p{N}]+/u)).filter((part) => part.length >= 4);
  return [...new Set([...whole, ...parts])];
}

/** Digits and signs that stand for letters; 1 stands for two of them. */
const lookalikes: Readonly<Record<string, string>> = {
  "0": "o",
  "3": "e",
  "4": "a",
  "5": "s",
  "7": "t",
  "@": "a",
  $: "s",
};

function spellings(folded: string): string[] {
  const plain = folded.replace(/[03457@$]/g, (sign) => lookalikes[sign] ?? sign);
  return [folded, plain.replace(/[1!]/g, "i"), plain.replace(/[1!]/g, "l")];
}

/** Whether nothing of substance is left without the names and the digits and signs that people hang on to them. */
function isOnlyNames(text: string, names: readonly string[]): boolean {
  let rest = text;
  for (const name of [...names].sort((a, b) => b.length - a.length)) rest = rest.replaceAll(name, " ");
  const left = [...rest.replaceAll(" ", "")];
  return rest !== text && left.length < 12 && left.filter((char) => /\p{L}/u.test(char)).length < 4;
}

/** Whether it is one short piece again and again, with or without something in between. */
function isRepetition(folded: string): boolean {
  const short = 12;
  const unit = (folded + folded).indexOf(folded, 1);
  if (unit < folded.length && unit < short) return true;
  const words = folded.split(/[^\p{L}\p{M}\p{N}]+/u).filter(Boolean);
  const distinct = new Set(words);
  return distinct.size < words.length && [...distinct].join("").length < short;
}

type Reason = "names" | "common" | "repeat" | "sequence" | "other";

const sentences: Record<Reason, string> = {
  names: "The password is built from the username, the tenant's name or the name of this service. Choose other words.",
  common: "The password is made of passwords that many people use. Choose several words that have nothing in common.",
  repeat: "The password repeats the same few characters. Choose several words that have nothing in common.",
  sequence:
    "The password follows the alphabet, the digits or the keyboard. Choose several words that have nothing in common.",
  other: "The password is easy to guess. Choose several words that have nothing in common.",
};

function reasonOf(match: MatchExtended): Reason {
  switch (match.pattern) {
    case "dictionary":
      return match.dictionaryName === "userInputs" ? "names" : "common";
    case "repeat":
      return "repeat";
    case "sequence":
    case "spatial":
      return "sequence";
    default:
      return "other";
  }
}

/** What most of the password is. */
function mainReason(matches: readonly MatchExtended[]): Reason {
  const weight = new Map<Reason, number>();
  for (const match of matches) {
    const reason = reasonOf(match);
    weight.set(reason, (weight.get(reason) ?? 0) + match.token.length);
  }
  return [...weight].sort((a, b) => b[1] - a[1])[0]?.[0] ?? "other";
}

/**
 * What is wrong with a new password, as a sentence for its owner, or null when it is fine. There are no rules about
 * kinds of characters: length counts, and what an attacker would try first.
 */
export async function passwordProblem(password: string, context: PasswordContext): Promise<string | null> {
  const length = [...password].length;
  if (length < context.minLength) {
    return `The password has ${length} characters; it needs at least ${context.minLength}. A few words are easy to remember.`;
  }
  if (Buffer.byteLength(password) > maxPasswordBytes) {
    return `The password is longer than ${maxPasswordBytes} bytes. Choose a shorter one.`;
  }
  if (!password.isWellFormed() || password.includes("\0")) {
    return "The password holds a character that cannot be sent. Type it again.";
  }
  const folded = foldUsername(password);
  const names = namesAround(context);
  if (spellings(folded).some((text) => isOnlyNames(text, names))) return sentences.names;
  if (isRepetition(folded)) return sentences.repeat;
  const estimator = await loadEstimator();
  const head = estimator.check(folded, names);
  if (head.guesses >= enoughGuesses) return null;
  // A weak beginning takes nothing from a strong end.
  if (folded.length > estimatedLength) {
    const tail = estimator.check(folded.slice(-estimatedLength), names);
    if (tail.guesses >= enoughGuesses) return null;
  }
  return sentences[mainReason(head.sequence)];
}
