import { Fault } from "../fault.ts";

/** The longest username, in code points. */
export const maxUsernameLength = 256;

/** The identity key of a username: NFKC, lower case, trimmed. Two spellings with one key are one worker. */
export function foldUsername(username: string): string {
  // Lower-casing can undo normal form ("İ" becomes two code points), so it is restored.
  return username.normalize("NFKC").toLowerCase().normalize("NFKC").trim();
}

/** Control, format and surrogate characters are invisible and make two names look like one; joiners are letters' glue. */
const invisible = /(?![\u200C\u200D])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

/** Whether a text can be shown as a username. */
export function isUsername(text: string): boolean {
  const trimmed = text.normalize("NFC").trim();
  const folded = [...foldUsername(trimmed)].length;
  return (
    folded > 0 && folded <= maxUsernameLength && [...trimmed].length <= maxUsernameLength && !invisible.test(trimmed)
  );
}

/** The username as it is kept and shown. */
export function checkUsername(username: string): string {
  const trimmed = username.normalize("NFC").trim();
  const refuse = (message: string) => new Fault("invalid_request", { field: "username", message });
  if (trimmed === "") throw refuse("The username is empty.");
  if ([...trimmed].length > maxUsernameLength || [...foldUsername(trimmed)].length > maxUsernameLength) {
    throw refuse(`The username is longer than ${maxUsernameLength} characters.`);
  }
  if (invisible.test(trimmed)) throw refuse("The username holds control or invisible characters. Type it again.");
  return trimmed;
}
