import { parse } from "csv-parse/sync";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseCsvRecord } from "./csv-record.ts";
import { csvLine } from "./formula-guard.ts";
import { readCsv } from "./read-csv.ts";
import type { SourceRow } from "./source-row.ts";
import { readTextLines } from "./text-lines.ts";

async function* inPieces(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function readText(text: string, { size = 7, ignoreUnknown = false } = {}): Promise<SourceRow[]> {
  const rows: SourceRow[] = [];
  for await (const group of readCsv(readTextLines(inPieces(text, size)), { ignoreUnknown })) rows.push(...group);
  return rows;
}

describe("a CSV file", () => {
  const cells = fc.array(
    fc.record({
      external_id: fc.string({ unit: "grapheme" }).map((text) => `x${text.replaceAll("\r", "")}`),
      given_name: fc.string().map((text) => text.replaceAll("\r", "")),
    }),
    { minLength: 1, maxLength: 20 },
  );

  test("is read as another parser reads it, wherever the stream is cut", async () => {
    await fc.assert(
      fc.asyncProperty(cells, fc.integer({ min: 1, max: 50 }), async (people, size) => {
        const text = `external_id,given_name\n${people.map((row) => csvLine([row.external_id, row.given_name])).join("")}`;
        const [, ...known] = parse(text, { record_delimiter: "\n" });
        const rows = await readText(text, { size });
        expect(rows.flatMap((row) => row.problems)).toEqual([]);
        expect(rows.map((row) => row.data)).toEqual(known);
      }),
    );
  });

  test.each([
    ["commas", "external_id,phones\n1,a|b\n"],
    ["semicolons", "external_id;phones\n1;a|b\n"],
    ["tabs", "external_id\tphones\n1\ta|b\n"],
    ["a byte order mark", "\ufeffexternal_id,phones\n1,a|b\n"],
    ["Windows line ends", "external_id,phones\r\n1,a|b\r\n"],
    ["old Mac line ends", "external_id,phones\r1,a|b\r"],
    ["no line end at its end", "external_id,phones\n1,a|b"],
    ["names as people write them", '"External ID", Phones \n1,a|b\n'],
    ["what Excel says of its separator", "sep=;\nexternal_id;phones\n1;a|b\n"],
    ["empty lines and rows", "\n\nexternal_id,phones\n\n,\n1,a|b\n\n"],
    ["everything quoted", '"external_id","phones"\n"1","a|b"\n'],
  ])("may have %s", async (_what, text) => {
    expect(await readText(text)).toMatchObject([{ values: { external_id: "1", phones: ["a", "b"] }, problems: [] }]);
  });

  test("a row that is written wrongly costs itself alone, and lines are counted as an editor does", async () => {
    const text = [
      "external_id,given_name",
      '1,"two\nlines"',
      '2,"closed"then more',
      "3,ok",
      '4,5" tall',
      "5,too,many",
      "6",
      '7,"never closed',
      "8,ok",
      '9,"quoted"',
      "10,ok",
    ].join("\n");
    const rows = await readText(text);
    expect(rows.map(({ line, problems }) => [line, problems[0]?.reason ?? "fine"])).toEqual([
      [2, "fine"],
      [4, "has text behind a closing quote"],
      [5, "fine"],
      [6, "fine"],
      [7, "has 3 cells, and the header 2"],
      [8, "has 1 cells, and the header 2"],
      [9, "has a quote that is never closed"],
      [10, "fine"],
      [11, "fine"],
      [12, "fine"],
    ]);
    expect(rows[3]?.values.given_name).toBe('5" tall');
  });

  test("a quote that is never closed does not swallow the rest", async () => {
    const many = Array.from({ length: 500 }, (_, index) => `${index},fine`);
    const rows = await readText(`external_id,given_name\nx,"open\n${many.join("\n")}\n`);
    expect(rows).toHaveLength(501);
    expect(rows.filter((row) => row.problems.length > 0).map((row) => row.line)).toEqual([2]);
  });

  test("an export's guard against formulas is taken away, once", async () => {
    const rows = await readText("external_id,given_name,phones\n'=1,'' twice,'+254|'-7\n'@x,it's,''+1\n");
    expect(rows.map((row) => row.values)).toEqual([
      { external_id: "=1", given_name: "'' twice", phones: ["+254", "-7"] },
      { external_id: "@x", given_name: "it's", phones: ["+1"] },
    ]);
  });

  test.each([
    ["a strange column", "external_id,phone\n", /column "phone" is not known\. Did you mean phones\?/],
    ["a column twice", "external_id,phones,Phones\n", /phones is there twice/],
    ["no external id", "given_name\n", /no column external_id/],
    ["a calendar without a date", "external_id,birth_calendar\n", /birth_calendar says something of date_of_birth/],
    ["no header", "HH-1,Amina,+254712000001\n", /names no known column/],
    ["nothing", "\n\n", /The file is empty/],
  ])("with %s is refused", async (_what, text, sentence) => {
    await expect(readText(text)).rejects.toThrow(sentence);
  });

  test("without a header never has its first row repeated", async () => {
    await expect(readText("HH-1,Amina\n")).rejects.not.toThrow(/Amina/);
  });

  test("other columns can be left alone, line breaks and all", async () => {
    const text = 'external_id,notes,given_name\n1,"a\nb",Amina\n';
    expect(await readText(text, { ignoreUnknown: true })).toMatchObject([
      { line: 2, values: { external_id: "1", given_name: "Amina" }, problems: [] },
    ]);
  });
});

describe("bytes that are no UTF-8 text", () => {
  const refused = async (bytes: Uint8Array) => {
    async function* once() {
      yield bytes;
    }
    for await (const _lines of readTextLines(once()));
  };

  test("are refused with what to do", async () => {
    const latin1 = Buffer.from("external_id,given_name\n1,Jose\n2,José\n", "latin1");
    await expect(refused(latin1)).rejects.toThrow(/Line 3 is not UTF-8 text.*iconv/);
    await expect(refused(Buffer.from("\ufeffexternal_id\n1\n", "utf16le"))).rejects.toThrow(/UTF-16/);
    await expect(refused(Buffer.from("external_id\n1\n", "utf16le"))).rejects.toThrow(/UTF-16/);
    await expect(refused(Buffer.from("PK\u0003\u0004\u0000\u0000"))).rejects.toThrow(/spreadsheet/);
    await expect(refused(Buffer.from([0x1f, 0x8b, 8, 1]))).rejects.toThrow(/gunzip/);
    await expect(refused(Buffer.from([0x61, 0xc3]))).rejects.toThrow(/Line 1 is not UTF-8/);
    await expect(refused(Buffer.alloc(2_000_000, "x"))).rejects.toThrow(/Line 1 is longer/);
  });
});

test("a record is cells, or goes on, or is broken", () => {
  expect(parseCsvRecord('a,"b""c",', ",")).toEqual(["a", 'b"c', ""]);
  expect(parseCsvRecord('"a" ,b', ",")).toEqual(["a", "b"]);
  expect(parseCsvRecord('a,"b', ",")).toBe("open");
  expect(parseCsvRecord('"a"b', ",")).toBe("broken");
});
