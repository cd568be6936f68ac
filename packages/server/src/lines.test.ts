import { Readable } from "node:stream";
import fc from "fast-check";
import { expect, it } from "vitest";
import { splitLines } from "./lines.ts";

async function read(chunks: AsyncIterable<Uint8Array>): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of splitLines(chunks)) lines.push(line);
  return lines;
}

it("splits lines wherever the stream was cut, in the middle of a character too", async () => {
  const line = fc.string({ unit: "grapheme" }).filter((text) => !/[\r\n]/.test(text));
  await fc.assert(
    fc.asyncProperty(fc.array(line), fc.integer({ min: 1, max: 7 }), fc.boolean(), async (lines, size, crlf) => {
      const bytes = Buffer.from(lines.map((text) => `${text}${crlf ? "\r\n" : "\n"}`).join(""));
      const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
        bytes.subarray(index * size, (index + 1) * size),
      );
      expect(await read(Readable.from(chunks))).toEqual(lines);
    }),
  );
});

it("gives a last line without an end, and passes errors on", async () => {
  expect(await read(Readable.from([Buffer.from("a\nb")]))).toEqual(["a", "b"]);
  const broken = new Readable({
    read() {
      this.destroy(new Error("the disk is gone"));
    },
  });
  await expect(read(broken)).rejects.toThrow("the disk is gone");
});
