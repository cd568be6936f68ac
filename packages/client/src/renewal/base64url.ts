import { digest } from "../encoding.ts";

/** Of bytes as text, one letter a byte. */
export function base64url(binary: string): string {
  return btoa(binary).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}

export async function sha256(text: string): Promise<string> {
  return base64url(await digest(text));
}
