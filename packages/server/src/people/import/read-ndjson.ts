import { isPlainObject } from "../../config/bounds.ts";
import { didYouMean } from "../../config/suggest.ts";
import { type PersonValues, personColumns } from "../person-columns.ts";
import { ImportRefused } from "./import-refused.ts";
import { type ReadOptions, type SourceRow, unreadable } from "./source-row.ts";

const known = Object.keys(personColumns);

/** The rows of a file with one JSON object in each line. */
export async function* readNdjson(
  groups: AsyncIterable<readonly string[]>,
  options: ReadOptions,
): AsyncGenerator<SourceRow[]> {
  let line = 0;
  for await (const lines of groups) {
    const rows: SourceRow[] = [];
    for (const text of lines) {
      line += 1;
      if (text.trim() === "") continue;
      if (line === 1 && text.trimStart().startsWith("[")) {
        throw new ImportRefused("The file is one JSON list. Write each object on a line of its own: jq -c '.[]' FILE.");
      }
      rows.push(readObject(line, text, options));
    }
    yield rows;
  }
}

function readObject(line: number, text: string, { ignoreUnknown }: ReadOptions): SourceRow {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // What the parser says repeats what stands there.
    return unreadable(line, [text], "is no JSON");
  }
  if (!isPlainObject(value)) return unreadable(line, [text], "is no JSON object");
  const strange = Object.keys(value).find((key) => !known.includes(key) && key !== "id");
  if (strange !== undefined && !ignoreUnknown) {
    return unreadable(line, [text], `is not known.${didYouMean(strange, known)}`, strange.slice(0, 40));
  }
  return { line, data: [text], values: value as PersonValues, problems: [] };
}
