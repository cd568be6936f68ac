import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Fault } from "../fault.ts";
import { parseStrictJson } from "./strict-json.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

function refusal(body: string | Uint8Array): Fault {
  try {
    parseStrictJson(typeof body === "string" ? bytes(body) : body);
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
  throw new Error("It was not refused.");
}

/** Keys a client might send: any text but the names and characters that are refused. */
const key = fc
  .string({ unit: "binary", maxLength: 6 })
  .filter((text) => !text.includes("\0") && !["__proto__", "constructor", "prototype"].includes(text));
const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { depthSize: "small", maxDepth: 6 },
    fc.oneof(key, fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean(), fc.constant(null)),
    fc.array(tie("any"), { maxLength: 4 }),
    fc.dictionary(key, tie("any"), { maxKeys: 4, noNullPrototype: true }),
  ),
})).any;
const object = fc.dictionary(key, value, { maxKeys: 5, noNullPrototype: true });

/** The same text with some of its letters written as escapes. */
function withEscapes(json: string): string {
  return json.replace(
    /(?<=[a-m])[a-z](?![^"]*\\)/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

describe("valid JSON without duplicates", () => {
  test("is read as JSON.parse reads it", () => {
    fc.assert(
      fc.property(object, fc.constantFrom(undefined, 1, "\t"), (sent, space) => {
        const text = JSON.stringify(sent, null, space);
        expect(parseStrictJson(bytes(text))).toEqual(JSON.parse(text));
      }),
      { numRuns: 300 },
    );
  });

  test("may say the same key in different objects", () => {
    const text = '{"a":{"a":[{"a":1},{"a":2}]},"b":{"a":"a"}}';
    expect(parseStrictJson(bytes(text))).toEqual(JSON.parse(text));
  });

  test("may hold what looks like JSON inside a string", () => {
    const text = JSON.stringify({ a: '{"a":1,"a":2}', b: '\\"a\\":[', c: "}{][,:" });
    expect(parseStrictJson(bytes(text))).toEqual(JSON.parse(text));
  });
});

describe("a duplicate key", () => {
  test("is found wherever it is planted, however it is spelt", () => {
    fc.assert(
      fc.property(object, fc.nat(), fc.boolean(), (sent, where, escaped) => {
        const text = JSON.stringify({ outer: sent, list: [sent, { twin: 1 }] });
        // Plant a twin after the opening brace of any object that has a first key.
        const places = [...text.matchAll(/\{(?=("(?:[^"\\]|\\.)*"):)/g)].filter(({ index }) =>
          outsideStrings(text, index),
        );
        const place = places[where % places.length];
        if (place === undefined) throw new Error("There is always the outer object.");
        const first = place[1] as string;
        const twin = escaped ? everyLetterEscaped(first) : first;
        const planted = `${text.slice(0, place.index + 1)}${twin}:0,${text.slice(place.index + 1)}`;
        expect(() => JSON.parse(planted)).not.toThrow();
        expect(refusal(planted)).toMatchObject({ code: "invalid_request", message: expect.stringContaining("twice") });
      }),
      { numRuns: 300 },
    );
  });

  test.each([
    ['{"username":"a","username":"b"}', "username"],
    ['{"a":1,"\\u0061":2}', "a"],
    ['{"adapters":[{"type":"otp"},{"type":"id","type":"otp"}]}', "adapters[1].type"],
    ['{"":1,"":2}', '""'],
  ])("%s names the field", (text, field) => {
    expect(refusal(text).field).toBe(field);
  });
});

describe("what is refused", () => {
  test.each([
    ["__proto__", '{"a":{"__proto__":{"admin":true}}}', "a.__proto__"],
    ["__proto__ in disguise", '{"__pr\\u006fto__":{}}', "__proto__"],
    ["constructor.prototype", '{"constructor":{"prototype":{"admin":true}}}', "constructor"],
    ["NUL in a value", '{"username":"a\\u0000b"}', "username"],
    ["a lone high surrogate", '{"list":["ok","\\ud83d"]}', "list[1]"],
    ["a lone low surrogate", '{"password":"\\udc00"}', "password"],
    ["33 levels", `{"a":${"[".repeat(32)}${"]".repeat(32)}}`, undefined],
  ])("%s", (_what, text, field) => {
    const fault = refusal(text);
    expect(fault.code).toBe("invalid_request");
    if (field !== undefined) expect(fault.field).toBe(field);
  });

  test.each(["[]", '"text"', "7", "null", "true"])("%s, because it is no object", (text) => {
    expect(refusal(text).message).toBe("The body must be a JSON object.");
  });

  test.each(["{", '{"a":1,}', "{'a':1}", '{"a":01}', '{"a":NaN}', '{"a":1}{"b":2}', '{"a":"\u0001"}', " "])(
    "%j, because it is no JSON",
    (text) => {
      expect(refusal(text).message).toBe("The body is not valid JSON.");
    },
  );

  test("broken UTF-8 and a byte order mark", () => {
    expect(refusal(Uint8Array.of(0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d)).message).toContain("UTF-8");
    // A surrogate written in UTF-8 (CESU-8), and an overlong NUL.
    expect(refusal(Uint8Array.of(0x7b, 0x22, 0xed, 0xa0, 0x80, 0x22, 0x3a, 0x31, 0x7d)).message).toContain("UTF-8");
    expect(refusal(Uint8Array.of(0x7b, 0x22, 0xc0, 0x80, 0x22, 0x3a, 0x31, 0x7d)).message).toContain("UTF-8");
    expect(refusal('\uFEFF{"a":1}').message).toContain("byte order mark");
  });

  test("never with the text it was found in", () => {
    const fault = refusal('{"password":"open sesame" oops}');
    expect(JSON.stringify([fault.message, fault.detail, String(fault.cause)])).not.toContain("sesame");
  });
});

test("32 levels are enough for anyone and are read", () => {
  const text = `{"a":${"[".repeat(31)}${"]".repeat(31)}}`;
  expect(parseStrictJson(bytes(text))).toEqual(JSON.parse(text));
});

test("escaped letters mean themselves", () => {
  const text = withEscapes('{"adapters":"abc"}');
  expect(text).toContain("\\u");
  expect(parseStrictJson(bytes(text))).toEqual({ adapters: "abc" });
});

function everyLetterEscaped(quoted: string): string {
  const units = Array.from({ length: JSON.parse(quoted).length }, (_, at) => JSON.parse(quoted).charCodeAt(at));
  return `"${units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("")}"`;
}

function outsideStrings(text: string, index: number): boolean {
  const before = text.slice(0, index).replaceAll(/\\./g, "");
  return before.split('"').length % 2 === 1;
}
