import type { Queries } from "../store/store.ts";
import { listKeys } from "../tokens/keys.ts";
import { type JournalFilter, readJournal } from "./read-journal.ts";
import type { JournalRecord } from "./record-stream.ts";

/** The first line of an export. */
export interface ExportHeader {
  readonly record: "header";
  readonly format: "fieldgate-journal";
  readonly version: 1;
  /** ISO 8601, by the database's clock. */
  readonly exportedAt: string;
  /** The one tenant it holds; null for all. */
  readonly tenantId: string | null;
  /** Whether the chains are whole, so that `journal verify --export` can follow them. */
  readonly verifiable: boolean;
  readonly filters: { readonly from?: string; readonly to?: string; readonly type?: string };
}

/** The last line: without it the file was cut. */
export interface ExportEnd {
  readonly record: "end";
  readonly events: number;
  readonly checkpoints: number;
}

/**
 * The lines of an export, as documented in docs/journal.md. Give it a snapshot; it holds a page at a time. A filtered
 * export has holes in its chains and leaves heads and checkpoints out.
 */
export async function* exportJournal(q: Queries, filter: JournalFilter): AsyncGenerator<string> {
  const isWhole = filter.from === undefined && filter.to === undefined && filter.type === undefined;
  const { now } = await q.db.selectNoFrom(q.now.as("now")).executeTakeFirstOrThrow();
  const header: ExportHeader = {
    record: "header",
    format: "fieldgate-journal",
    version: 1,
    exportedAt: new Date(now).toISOString(),
    tenantId: filter.tenantId ?? null,
    verifiable: isWhole,
    filters: {
      ...(filter.from !== undefined && { from: new Date(filter.from).toISOString() }),
      ...(filter.to !== undefined && { to: new Date(filter.to).toISOString() }),
      ...(filter.type !== undefined && { type: filter.type }),
    },
  };
  yield toLine(header);
  for (const { id, purpose, publicJwk } of isWhole ? await listKeys(q) : []) {
    if (purpose === "journal" && publicJwk) yield toLine({ record: "key", keyId: id, publicJwk });
  }
  let events = 0;
  let checkpoints = 0;
  for await (const record of readJournal(q, filter)) {
    if (!isWhole && (record.record === "checkpoint" || record.record === "head")) continue;
    if (record.record === "event") events += 1;
    if (record.record === "checkpoint") checkpoints += 1;
    yield toLine(record);
  }
  yield toLine({ record: "end", events, checkpoints });
}

function toLine(record: JournalRecord | ExportHeader | ExportEnd): string {
  return `${JSON.stringify(record)}\n`;
}
