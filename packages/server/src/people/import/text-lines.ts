import { isUtf8 } from "node:buffer";
import { ImportRefused } from "./import-refused.ts";

const maxLineLength = 1024 * 1024;

/**
 * The lines of a UTF-8 text, with or without a byte order mark and whatever they end with, as many at a time as a piece
 * of the stream holds. Refuses other encodings and files that are no text, before it gives a wrong character away.
 */
export async function* readTextLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string[]> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let rest = "";
  let line = 1;
  let isFirst = true;
  const decode = (chunk?: Uint8Array) => {
    try {
      return chunk ? decoder.decode(chunk, { stream: true }) : decoder.decode();
    } catch (cause) {
      throw new ImportRefused(notUtf8(line + (chunk ? validLines(chunk) : 0)), { cause });
    }
  };
  for await (const chunk of chunks) {
    if (isFirst) refuseForeign(chunk);
    isFirst = false;
    const text = rest + decode(chunk);
    // Whether a line feed follows is in the next piece.
    const end = text.endsWith("\r") ? text.length - 1 : text.length;
    const lines = text.slice(0, end).split(/\r\n|\n|\r/);
    rest = (lines.pop() ?? "") + text.slice(end);
    if (rest.length > maxLineLength) {
      throw new ImportRefused(
        `Line ${line + lines.length} is longer than ${maxLineLength} characters: is it a text file?`,
      );
    }
    line += lines.length;
    if (lines.length > 0) yield lines;
  }
  rest = (rest + decode()).replace(/\r$/, "");
  if (rest !== "") yield [rest];
}

/** How many whole lines come before the first one that is not UTF-8. */
function validLines(chunk: Uint8Array): number {
  let lines = 0;
  let start = 0;
  for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
    // The first line of a piece may begin in the middle of a character.
    if (lines > 0 && !isUtf8(chunk.subarray(start, end))) break;
    lines += 1;
    start = end + 1;
  }
  return lines;
}

const notUtf8 = (line: number) =>
  `Line ${line} is not UTF-8 text; it may be Windows-1252 or Latin-1. Save the file as UTF-8 ("CSV UTF-8" in Excel), ` +
  "or convert it: iconv -f WINDOWS-1252 -t UTF-8.";

function refuseForeign(chunk: Uint8Array): void {
  const starts = (...bytes: number[]) => bytes.every((byte, index) => chunk[index] === byte);
  if (starts(0xff, 0xfe) || starts(0xfe, 0xff) || chunk.subarray(0, 1000).includes(0)) {
    throw new ImportRefused(
      starts(0x50, 0x4b) ? spreadsheet : 'The file is UTF-16 or no text. Save it as UTF-8 ("CSV UTF-8" in Excel).',
    );
  }
  if (starts(0x50, 0x4b, 3, 4)) throw new ImportRefused(spreadsheet);
  if (starts(0x1f, 0x8b)) {
    throw new ImportRefused("The file is compressed. Pipe it: gunzip -c FILE | fieldgate beneficiary import - …");
  }
}

const spreadsheet = 'The file is a spreadsheet or an archive. Save the sheet as "CSV UTF-8" and import that.';
