import { generateKeyPairSync } from "node:crypto";
import { inflateSync } from "node:zlib";
import { decodeQR } from "qr/decode.js";
import { expect, test } from "vitest";
import { cardSheet } from "./card-sheet.ts";
import { qrPng, qrSvg } from "./draw-qr.ts";
import { signCard } from "./sign-card.ts";

const { privateKey } = generateKeyPairSync("ed25519");
const card = {
  iss: "https://id.example.org/tenants/demo",
  kid: "k1",
  number: "AAAAA-BBBBB",
  issuedAt: 1,
  expiresAt: 2,
};
const { text } = signCard(card, privateKey);

/** Reads our own PNG, as far as our own PNG goes: one bit a pixel, no filter. */
function pixelsOf(png: Buffer) {
  const width = png.readUInt32BE(16);
  const height = png.readUInt32BE(20);
  const at = png.indexOf("IDAT");
  const rows = inflateSync(png.subarray(at + 4, at + 4 + png.readUInt32BE(at - 4)));
  const stride = 1 + Math.ceil(width / 8);
  const data = new Uint8Array(width * height * 4).fill(255);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const light = ((rows[y * stride + 1 + (x >> 3)] ?? 0) >> (7 - (x & 7))) & 1;
      data.fill(light * 255, (y * width + x) * 4, (y * width + x) * 4 + 3);
    }
  }
  return { width, height, data };
}

test("a reader reads the PNG as it was signed", () => {
  expect(decodeQR(pixelsOf(qrPng(text, 4)))).toBe(text);
});

test("the SVG draws the same modules", () => {
  const svg = qrSvg(text, "Card");
  const size = Number(/viewBox="0 0 (\d+) /.exec(svg)?.[1]);
  const data = new Uint8Array(size * 4 * size * 4 * 4).fill(255);
  for (const [, x, y] of svg.matchAll(/M(\d+) (\d+)h1v1h-1z/g)) {
    for (let row = Number(y) * 4; row < Number(y) * 4 + 4; row += 1) {
      const from = (row * size * 4 + Number(x) * 4) * 4;
      for (let at = from; at < from + 16; at += 4) data.fill(0, at, at + 3);
    }
  }
  expect(decodeQR({ width: size * 4, height: size * 4, data })).toBe(text);
});

test("a sheet names nobody and interprets nothing", () => {
  const sheet = cardSheet("<b>Programme</b>", [{ number: "AAAAA-BBBBB", text, expiresAt: 0 }]);
  expect(sheet).toContain("&#60;b&#62;Programme");
  expect(sheet).not.toContain("<b>");
  expect(sheet).toContain("1970-01-01");
});
