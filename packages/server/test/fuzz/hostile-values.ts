import fc from "fast-check";

/** Texts that have broken services before. */
export const hostileTexts: readonly string[] = [
  "",
  " ",
  "\0",
  "a\0b",
  "\ud800",
  "\udfff x",
  "\ufeff",
  "\u202eadmin",
  "\u0000".repeat(20),
  "İ",
  "ﷺ".repeat(80),
  "e\u0301",
  "👩‍👩‍👧‍👧",
  "' OR '1'='1",
  "'; drop table workers; --",
  "%00",
  "../../etc/passwd",
  "#{7*7}{{7*7}}",
  "<script>alert(1)</script>",
  "__proto__",
  "constructor",
  "null",
  "true",
  "-1",
  "1e999",
  "NaN",
  "2024-02-30",
  "0000-00-00",
  "+254700000000",
  "nobody@example.org",
  "A".repeat(1024),
  "x".repeat(5000),
  "é".repeat(600),
  "\r\nSet-Cookie: a=b",
];

const oddValues: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  1e308,
  Number.MAX_SAFE_INTEGER + 1,
  [],
  {},
  [[]],
  ["a"],
  { a: { b: { c: 1 } } },
];

const nest = (depth: number, open: string, close: string) => JSON.parse(`${open.repeat(depth)}1${close.repeat(depth)}`);

/** Anything JSON can say, with a taste for the odd. */
export const anyValue: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...hostileTexts) },
  { weight: 2, arbitrary: fc.constantFrom(...oddValues) },
  { weight: 2, arbitrary: fc.string({ unit: "binary", maxLength: 60 }) },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 4 }) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 200 }).map((depth) => nest(depth, "[", "]")) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 200 }).map((depth) => nest(depth, '{"a":', "}")) },
);

/** A header's value: what HTTP can carry, and nothing a client library would refuse to send. */
export const headerText: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: "grapheme-ascii", maxLength: 80 }),
  fc.constantFrom(
    "",
    ",",
    ";",
    "a,b",
    '"',
    "\xff\xfe",
    "x".repeat(3000),
    "null",
    "*",
    "0",
    "__proto__",
    "../..",
    "%00",
  ),
);
