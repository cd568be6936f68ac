import { createHmac, hkdfSync, timingSafeEqual } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import { crc32 } from "node:zlib";

/** The key under which a deployment seals its backups. */
export function backupKey(secret: Uint8Array): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", secret, "", "fieldgate backup v1", 32));
}

export function createMac(key: Uint8Array) {
  return createHmac("sha256", key);
}

/**
 * The end of a backup file: the HMAC-SHA256 of every byte before it, as a line of JSON in a gzip member of its own, so
 * that the whole is still a file for `zcat`. It is stored uncompressed, so the same MAC has always the same bytes, and
 * no byte of the file can be changed unnoticed.
 */
export function encodeSeal(mac: Buffer): Buffer {
  const text = Buffer.from(`${JSON.stringify({ record: "seal", hmacSha256: mac.toString("hex") })}\n`);
  const header = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);
  const block = Buffer.alloc(5);
  block[0] = 1;
  block.writeUInt16LE(text.length, 1);
  block.writeUInt16LE(~text.length & 0xffff, 3);
  const footer = Buffer.alloc(8);
  footer.writeUInt32LE(crc32(text), 0);
  footer.writeUInt32LE(text.length, 4);
  return Buffer.concat([header, block, text, footer]);
}

export const sealLength = encodeSeal(Buffer.alloc(32)).length;

/** Reads the whole file; whether its seal was made under one of the keys, over exactly these bytes. */
export async function isSealed(file: FileHandle, size: number, keys: readonly Uint8Array[]): Promise<boolean> {
  if (size <= sealLength) return false;
  const macs = keys.map(createMac);
  for await (const chunk of readContent(file, size)) for (const mac of macs) mac.update(chunk);
  const { buffer } = await file.read(Buffer.alloc(sealLength), 0, sealLength, size - sealLength);
  return macs.map((mac) => timingSafeEqual(encodeSeal(mac.digest()), buffer)).includes(true);
}

/** The bytes before the seal. Unlike a stream of the handle it can be left half-way without closing the handle. */
export async function* readContent(file: FileHandle, size: number): AsyncGenerator<Buffer> {
  const end = size - sealLength;
  for (let position = 0; position < end; ) {
    const chunk = Buffer.alloc(Math.min(65_536, end - position));
    const { bytesRead } = await file.read(chunk, 0, chunk.length, position);
    if (bytesRead === 0) return;
    yield chunk.subarray(0, bytesRead);
    position += bytesRead;
  }
}
