const utf8 = new TextEncoder();

export const toBytes = (text: string): Uint8Array<ArrayBuffer> => utf8.encode(text);

/** Bytes as text, one letter a byte. */
export const toBinary = (bytes: ArrayBuffer | Uint8Array): string => String.fromCharCode(...new Uint8Array(bytes));

/** SHA-256, one letter a byte. */
export async function digest(text: string): Promise<string> {
  return toBinary(await crypto.subtle.digest("SHA-256", toBytes(text)));
}

export type Claims = Readonly<Record<string, unknown>>;

/** What a JWT says, unverified; null for anything that is no JWT. Only the server's verdict makes it trustworthy. */
export function readClaims(token: string): Claims | null {
  try {
    const payload = token.split(".")[1]?.replace(/-/g, "+").replace(/_/g, "/") ?? "";
    const bytes = Uint8Array.from(atob(payload), (letter) => letter.charCodeAt(0));
    const claims = JSON.parse(new TextDecoder().decode(bytes));
    return typeof claims === "object" ? claims : null;
  } catch {
    return null;
  }
}
