import { randomBytes } from "node:crypto";
import { open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { type SqlBool, sql } from "kysely";
import { migrations } from "../store/migrate.ts";
import type { Queries, Store } from "../store/store.ts";
import { syncDirectory } from "../sync-directory.ts";
import { createKeyVault } from "../tokens/key-vault.ts";
import { serverVersion } from "../version.ts";
import type { BackupHeader, BackupValue, EndRecord, OnProgress, TableRecord } from "./format.ts";
import { backupKey, createMac, encodeSeal } from "./seal.ts";
import { type BackupTable, backupTables } from "./tables.ts";

export interface BackupResult {
  readonly header: BackupHeader;
  readonly rows: Readonly<Record<string, number>>;
  /** Bytes of the file. */
  readonly size: number;
}

const pageSize = 500;

/**
 * Writes one state of the whole database to a new file that only its owner can read, while others go on writing to
 * the database. The file appears under its name when it is complete and on the disk.
 */
export async function writeBackup(
  store: Store,
  secret: Uint8Array,
  path: string,
  onProgress: OnProgress,
): Promise<BackupResult> {
  const draft = `${path}.${randomBytes(6).toString("hex")}.partial`;
  const file = await open(draft, "wx", 0o600);
  try {
    const result = await store.snapshot(async (q) => {
      const header = await describe(q, secret);
      const counts: Record<string, number> = {};
      const mac = createMac(backupKey(secret));
      let size = 0;
      await pipeline(Readable.from(readLines(q, header, counts, onProgress)), createGzip(), async (chunks) => {
        for await (const chunk of chunks as AsyncIterable<Buffer>) {
          mac.update(chunk);
          size += chunk.length;
          await file.appendFile(chunk);
        }
      });
      const seal = encodeSeal(mac.digest());
      await file.appendFile(seal);
      return { header, rows: counts, size: size + seal.length };
    });
    await file.sync();
    await file.close();
    await rename(draft, path);
    await syncDirectory(dirname(path));
    return result;
  } catch (error) {
    await file.close();
    await rm(draft, { force: true });
    throw error;
  }
}

async function describe(q: Queries, secret: Uint8Array): Promise<BackupHeader> {
  const { now } = await q.db.selectNoFrom(q.now.as("now")).executeTakeFirstOrThrow();
  let rows = 0;
  for (const { name } of backupTables) rows += await countRows(q, name);
  return {
    record: "header",
    format: "fieldgate-backup",
    version: 1,
    schema: migrations.length,
    createdAt: new Date(now).toISOString(),
    database: q.kind,
    server: serverVersion,
    secretId: createKeyVault(secret).secretId,
    rows,
  };
}

export async function countRows(q: Queries, table: BackupTable["name"]): Promise<number> {
  const row = await q.db.selectFrom(table).select(sql<number>`count(*)`.as("count")).executeTakeFirstOrThrow();
  return Number(row.count);
}

/** The lines, a page of a table at a time: gzip is faster with few large pieces. */
async function* readLines(
  q: Queries,
  header: BackupHeader,
  counts: Record<string, number>,
  onProgress: OnProgress,
): AsyncGenerator<string> {
  yield toLine(header);
  let done = 0;
  for (const table of backupTables) {
    let columns: readonly string[] | null = null;
    counts[table.name] = 0;
    for await (const rows of readPages(q, table)) {
      if (!columns) {
        columns = Object.keys(rows[0] ?? {});
        yield toLine({ record: "table", name: table.name, columns });
      }
      const order = columns;
      yield rows.map((row) => toLine(order.map((column) => row[column] ?? null))).join("");
      counts[table.name] = (counts[table.name] ?? 0) + rows.length;
      done += rows.length;
      onProgress({ done, total: header.rows, table: table.name });
    }
  }
  yield toLine({ record: "end", rows: counts });
}

type Row = Readonly<Record<string, BackupValue>>;

async function* readPages(q: Queries, { name, key }: BackupTable): AsyncGenerator<readonly Row[]> {
  const columns = sql.join(key.map((column) => sql.ref(column)));
  for (let last: Row | undefined; ; ) {
    let query = q.db.selectFrom(name).selectAll().orderBy(columns).limit(pageSize);
    if (last) {
      const values = sql.join(key.map((column) => last?.[column]));
      query = query.where(sql<SqlBool>`(${columns}) > (${values})`);
    }
    const rows = (await query.execute()) as readonly Row[];
    if (rows.length > 0) yield rows;
    if (rows.length < pageSize) return;
    last = rows.at(-1);
  }
}

function toLine(value: BackupHeader | TableRecord | EndRecord | readonly BackupValue[]): string {
  return `${JSON.stringify(value)}\n`;
}
