import { open } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import type { DatabaseConfig } from "../config/config.ts";
import { openPool } from "./postgres/pool.ts";
import type { Database } from "./schema.ts";
import type { Queries, Store } from "./store.ts";

/** Tables from which the erasure of a person removes rows. */
const touched: readonly (keyof Database)[] = [
  ...(["beneficiaries", "identifiers", "cards", "devices", "budgets", "otp_challenges", "outbox"] as const),
];

export interface ScrubResult {
  /** Whether the database's files were read and hold none of the traces; null where they cannot be read from here. */
  readonly clean: boolean | null;
  /** Whether the whole file had to be written anew. */
  readonly rewritten: boolean;
}

/**
 * Makes what was deleted disappear from the files too. SQLite overwrites deleted rows at once, but old pages stay in its
 * write-ahead log, and seldom a copy of a row in a page that was split; so the file is searched for the traces and
 * rewritten where one is found. PostgreSQL clears pages when it vacuums a table; its own log is recycled with time.
 */
export async function scrub(
  database: DatabaseConfig,
  store: Store,
  traces: readonly string[],
  onRewrite: () => void = () => undefined,
): Promise<ScrubResult> {
  if (database.kind === "postgres") {
    await vacuum(database.url);
    return { clean: null, rewritten: false };
  }
  const emptied = await emptyLog(store);
  if (emptied && !(await holdsAny(database.file, traces))) return { clean: true, rewritten: false };
  onRewrite();
  await sql`vacuum`.execute(store.db);
  return { clean: (await emptyLog(store)) && !(await holdsAny(database.file, traces)), rewritten: true };
}

async function vacuum(url: string): Promise<void> {
  const pool = openPool(url, 1, "unhurried");
  try {
    await pool.query(`vacuum ${touched.join(", ")}`);
  } finally {
    await pool.end();
  }
}

const logTries = 50;
const logPauseMs = 100;

/** Copies the write-ahead log into the file and cuts it to nothing; false when readers stood in the way for too long. */
export async function emptyLog(q: Queries): Promise<boolean> {
  if (q.kind !== "sqlite") return true;
  for (let attempt = 1; attempt <= logTries; attempt += 1) {
    const { rows } = await sql<{ busy: number }>`pragma wal_checkpoint(truncate)`.execute(q.db);
    if (rows[0]?.busy === 0) return true;
    await sleep(logPauseMs);
  }
  return false;
}

const pieceSize = 8 * 1024 * 1024;

async function holdsAny(path: string, traces: readonly string[]): Promise<boolean> {
  const wanted = traces.map((trace) => Buffer.from(trace));
  const overlap = Math.max(0, ...wanted.map((trace) => trace.length - 1));
  const file = await open(path, "r");
  try {
    const piece = Buffer.alloc(overlap + pieceSize);
    let kept = 0;
    for (;;) {
      const { bytesRead } = await file.read(piece, kept, pieceSize, null);
      if (bytesRead === 0) return false;
      const filled = piece.subarray(0, kept + bytesRead);
      if (wanted.some((trace) => filled.includes(trace))) return true;
      const tail = Math.min(overlap, filled.length);
      filled.copy(piece, 0, filled.length - tail);
      kept = tail;
    }
  } finally {
    await file.close();
  }
}
