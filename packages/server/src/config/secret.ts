/** The shortest deployment secret. */
export const minSecretBytes = 32;

const placeholders =
  /change.?me|example|placeholder|insecure|default|your.?secret|password|fieldgate|replace.?(me|this)/i;

function decode(text: string): Uint8Array | null {
  if (/^[0-9a-f]+$/i.test(text)) return text.length % 2 === 0 ? Buffer.from(text, "hex") : null;
  // Random base64 has letters of both cases; a sentence someone typed often has not.
  if (!/[a-z]/.test(text) || !/[A-Z]/.test(text)) return null;
  if (/^[A-Za-z0-9+/]+={0,2}$/.test(text) || /^[A-Za-z0-9_-]+={0,2}$/.test(text)) return Buffer.from(text, "base64url");
  return null;
}

/** Whether the bytes follow a pattern that no random generator would give in the lifetime of the sun. */
function looksMade(bytes: Uint8Array): boolean {
  if (new Set(bytes).size < 12) return true;
  if (bytes.every((byte) => byte >= 0x20 && byte <= 0x7e)) return true;
  const steps = new Set(bytes.slice(1).map((byte, index) => byte - (bytes[index] ?? 0)));
  if (steps.size === 1) return true;
  const half = Math.floor(bytes.length / 2);
  for (let period = 1; period <= half; period++) {
    if (bytes.every((byte, index) => index < period || byte === bytes[index - period])) return true;
  }
  return false;
}

export type SecretVerdict = { readonly secret: Uint8Array } | { readonly problem: string };

const how = "Make one with `openssl rand -base64 32`.";

/** Reads a deployment secret: base64, base64url or hex of at least 32 random bytes. The sentence never repeats it. */
export function parseSecret(text: string): SecretVerdict {
  if (placeholders.test(text)) return { problem: `is a placeholder, not a secret. ${how}` };
  const bytes = decode(text);
  if (!bytes) return { problem: `must be base64, base64url or hex. ${how}` };
  if (bytes.length < minSecretBytes) {
    return { problem: `holds ${bytes.length} bytes and needs at least ${minSecretBytes} random ones. ${how}` };
  }
  if (looksMade(bytes)) return { problem: `follows a pattern: it must be random bytes. ${how}` };
  return { secret: bytes };
}
