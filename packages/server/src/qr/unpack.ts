import { inflateSync } from "node:zlib";
import { Fault } from "../fault.ts";
import { decodeBase45 } from "./base45.ts";

/** As much as the largest QR code holds. */
const mostCharacters = 4296;
const mostBytes = 64 * 1024;

/** From the text of a scanned code to the bytes of its CWT. Never trims: a space is a base45 character. */
export function unpackQr(text: string): Uint8Array {
  if (text.length > mostCharacters) throw malformed("longer than a QR code can be");
  if (text.startsWith("HC1:")) {
    throw new Fault("qr_unsupported", {
      message: "This is a health certificate, not an identity card. Scan another code.",
    });
  }
  const packed = decodeBase45(text);
  // RFC 1950: deflate with a 32 KiB window or less, and a checksum over both bytes of the header.
  if (!packed || ((packed[0] ?? 0) & 0x8f) !== 0x08 || (((packed[0] ?? 0) << 8) | (packed[1] ?? 0)) % 31 !== 0) {
    throw malformed("no zlib in base45");
  }
  const bytes = inflate(packed);
  return isHex(bytes) ? Buffer.from(Buffer.from(bytes).toString("latin1"), "hex") : bytes;
}

function inflate(packed: Uint8Array): Uint8Array {
  try {
    const { buffer, engine } = inflateSync(packed, { maxOutputLength: mostBytes, info: true }) as unknown as {
      readonly buffer: Buffer;
      readonly engine: { readonly bytesWritten: number };
    };
    if (engine.bytesWritten !== packed.length) throw malformed("bytes after the end");
    return buffer;
  } catch (cause) {
    if (cause instanceof Fault) throw cause;
    throw malformed("does not inflate", cause);
  }
}

/** Some issuers write the CWT as hex before they compress it. */
function isHex(bytes: Uint8Array): boolean {
  return bytes.length > 0 && bytes.length % 2 === 0 && bytes.every((byte) => isHexDigit(byte));
}

function isHexDigit(byte: number): boolean {
  return (byte >= 0x30 && byte <= 0x39) || (byte >= 0x41 && byte <= 0x46) || (byte >= 0x61 && byte <= 0x66);
}

export function malformed(detail: string, cause?: unknown): Fault {
  return new Fault("qr_malformed", { detail, cause });
}
