import { openSync, readSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import type { DatabaseConfig } from "../config/config.ts";
import { openPool } from "./postgres/pool.ts";
import type { Database } from "./schema.ts";
import type { Queries, Store } from "./store.ts";

/** Tables from which the erasure of a person removes rows. */
const touched: readonly (keyof Database)[] = [
  ...(["beneficiaries", "identifiers", "cards", "devices", "budgets", "otp_challenges", "outbox"] as const),
  ...(["sync_events", "sync_proposals", "vault_keys"] as const),
];

export interface ScrubResult {
  /** Whether the database's files were read and hold none of the traces; null where they cannot be read from here. */
  readonly clean: boolean | null;
  /** Whether the tables were written anew. */
  readonly rewritten: boolean;
}

export interface ScrubOptions {
  /** What must not be found any more. */
  readonly traces: readonly string[];
  /** Write the tables anew in any case: everyone else waits until it is done. */
  readonly compact: boolean;
  /** Told before tables are written anew. */
  onRewrite(): void;
}

/**
 * Makes what was deleted disappear from the files too. SQLite overwrites deleted rows at once, but old pages stay in its
 * write-ahead log, and seldom a copy of a row in a page that was split; so the file is searched for the traces and
 * rewritten where one is found. PostgreSQL frees the space of deleted rows when it vacuums, and overwrites it when it
 * next needs it; only tables that are written anew hold nothing of them at once. Its own log is recycled with time.
 */
export async function scrub(
  database: DatabaseConfig,
  store: Store,
  { traces, compact, onRewrite }: ScrubOptions,
): Promise<ScrubResult> {
  if (database.kind === "postgres") {
    if (compact) onRewrite();
    await vacuum(database.url, compact);
    return { clean: null, rewritten: compact };
  }
  const emptied = await emptyLog(store);
  if (emptied && !compact && !holdsAny(database.file, traces)) return { clean: true, rewritten: false };
  onRewrite();
  await sql`vacuum`.execute(store.db);
  return { clean: (await emptyLog(store)) && !holdsAny(database.file, traces), rewritten: true };
}

async function vacuum(url: string, full: boolean): Promise<void> {
  const pool = openPool(url, 1, "unhurried");
  try {
    for (const table of touched) await pool.query(`vacuum ${full ? "full " : ""}${table}`);
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

/**
 * Whether a file holds one of the texts. It is never closed: a process that closes a file gives up every lock it has on
 * it, and so its database connection would lose its own. For a command, which ends soon.
 */
function holdsAny(path: string, traces: readonly string[]): boolean {
  const wanted = traces.map((trace) => Buffer.from(trace));
  const overlap = Math.max(0, ...wanted.map((trace) => trace.length - 1));
  const file = openSync(path, "r");
  const piece = Buffer.alloc(overlap + pieceSize);
  let kept = 0;
  for (;;) {
    const bytesRead = readSync(file, piece, kept, pieceSize, null);
    if (bytesRead === 0) return false;
    const filled = piece.subarray(0, kept + bytesRead);
    if (wanted.some((trace) => filled.includes(trace))) return true;
    kept = Math.min(overlap, filled.length);
    filled.copy(piece, 0, filled.length - kept);
  }
}
