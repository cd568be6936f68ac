import { expect, test } from "vitest";
import { readNdjson } from "./read-ndjson.ts";
import type { SourceRow } from "./source-row.ts";

async function read(lines: string[], ignoreUnknown = false): Promise<SourceRow[]> {
  async function* once() {
    yield lines;
  }
  const rows: SourceRow[] = [];
  for await (const group of readNdjson(once(), { ignoreUnknown })) rows.push(...group);
  return rows;
}

test("each line is an object, and a wrong one costs itself alone", async () => {
  const rows = await read([
    '{"external_id":"1","phones":["a"]}',
    "",
    "{broken",
    "[1]",
    '{"external_id":"2","phone":"a"}',
    '{"__proto__":{}}',
    '{"id":"from-an-export","external_id":"3"}',
  ]);
  expect(rows.map(({ line, problems }) => [line, problems[0]?.field, problems[0]?.reason])).toEqual([
    [1, undefined, undefined],
    [3, "", "is no JSON"],
    [4, "", "is no JSON object"],
    [5, "phone", "is not known. Did you mean phones?"],
    [6, "__proto__", expect.stringContaining("is not known")],
    [7, undefined, undefined],
  ]);
  expect(await read(['{"external_id":"2","phone":"a"}'], true)).toMatchObject([{ problems: [] }]);
});

test("one list of all is refused with what to do", async () => {
  await expect(read(["[", '{"external_id":"1"}', "]"])).rejects.toThrow("jq -c");
});
