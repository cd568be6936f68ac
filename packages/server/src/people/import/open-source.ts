import { createReadStream } from "node:fs";
import { readCsv } from "./read-csv.ts";
import { readNdjson } from "./read-ndjson.ts";
import type { ReadOptions, SourceRow } from "./source-row.ts";
import { readTextLines } from "./text-lines.ts";

export type ImportFormat = "csv" | "ndjson";

export interface ImportSource {
  readonly rows: AsyncIterable<SourceRow[]>;
  /** Bytes read so far. */
  bytesRead(): number;
}

/** Reads people from bytes, in the format given or the one that they look like. */
export function openSource(
  bytes: AsyncIterable<Uint8Array>,
  format: ImportFormat | null,
  options: ReadOptions,
): ImportSource {
  let count = 0;
  async function* counted(): AsyncGenerator<Uint8Array> {
    for await (const chunk of bytes) {
      count += chunk.length;
      yield chunk;
    }
  }
  return { rows: readRows(readTextLines(counted()), format, options), bytesRead: () => count };
}

async function* readRows(
  lines: AsyncGenerator<string[]>,
  format: ImportFormat | null,
  options: ReadOptions,
): AsyncGenerator<SourceRow[]> {
  const first = await lines.next();
  const groups = resume(first, lines);
  const begin = first.done ? "" : (first.value.find((line) => line.trim() !== "") ?? "");
  const isJson = format === null ? /^\s*[[{]/.test(begin) : format === "ndjson";
  yield* isJson ? readNdjson(groups, options) : readCsv(groups, options);
}

async function* resume(first: IteratorResult<string[]>, rest: AsyncGenerator<string[]>): AsyncGenerator<string[]> {
  if (!first.done) yield first.value;
  yield* rest;
}

export function formatByName(file: string): ImportFormat | null {
  if (/\.(ndjson|jsonl|json)$/i.test(file)) return "ndjson";
  return /\.(csv|tsv|txt)$/i.test(file) ? "csv" : null;
}

/** Reads a file to its end, so that one of a wrong encoding is refused before anything of it is imported. */
export async function demandText(file: string): Promise<void> {
  for await (const _lines of readTextLines(createReadStream(file, { highWaterMark: 1024 * 1024 })));
}
