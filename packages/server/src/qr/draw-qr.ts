import { crc32, deflateSync } from "node:zlib";
import { encodeQR } from "qr";

/** Light modules around the code: readers need four. */
const quiet = 4;

type Modules = readonly (readonly boolean[])[];

function modulesOf(text: string): Modules {
  // Every character of base45 is one of QR's alphanumeric ones: that is what makes these codes small.
  return encodeQR(text, "raw", { ecc: "medium", encoding: "alphanumeric", border: quiet });
}

/** The code as an SVG drawing, one unit a module; `title` is what a screen reader says. */
export function qrSvg(text: string, title: string): string {
  const modules = modulesOf(text);
  const size = modules.length;
  const path = modules.flatMap((row, y) => row.flatMap((dark, x) => (dark ? [`M${x} ${y}h1v1h-1z`] : []))).join("");
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size} ${size}" role="img" shape-rendering="crispEdges">` +
    `<title>${escapeXml(title)}</title><rect width="${size}" height="${size}" fill="#fff"/><path d="${path}"/></svg>`
  );
}

/** The code as a PNG, `scale` pixels a module: one bit a pixel, so that it stays small. */
export function qrPng(text: string, scale = 8): Buffer {
  const modules = modulesOf(text);
  const size = modules.length * scale;
  const rows = modules.flatMap((row) => {
    const line = Buffer.alloc(1 + Math.ceil(size / 8));
    for (let x = 0; x < size; x += 1) {
      const light = !row[Math.floor(x / scale)];
      const at = 1 + (x >> 3);
      if (light) line[at] = (line[at] ?? 0) | (0x80 >> (x & 7));
    }
    return Array.from({ length: scale }, () => line);
  });
  const header = Buffer.alloc(13);
  header.writeUInt32BE(size, 0);
  header.writeUInt32BE(size, 4);
  header.set([1, 0, 0, 0, 0], 8);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([
    signature,
    chunk("IHDR", header),
    chunk("IDAT", deflateSync(Buffer.concat(rows))),
    chunk("IEND"),
  ]);
}

function chunk(type: string, data: Buffer = Buffer.alloc(0)): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}

export function escapeXml(text: string): string {
  return text.replace(/[&<>"']/g, (char) => `&#${char.codePointAt(0)};`);
}
