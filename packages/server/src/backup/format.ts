import type { DatabaseKind } from "../store/store.ts";

/**
 * A backup is gzip over lines of JSON, as documented in docs/backup.md: a header, for each table a `table` line and a
 * line for each row (a list in the order of the columns), an end; then a second gzip member with the seal.
 */
export interface BackupHeader {
  readonly record: "header";
  readonly format: "fieldgate-backup";
  readonly version: 1;
  /** The version of the schema the rows fit into. */
  readonly schema: number;
  /** ISO 8601, by the database's clock. */
  readonly createdAt: string;
  readonly database: DatabaseKind;
  /** The version of Fieldgate that made it. */
  readonly server: string;
  /** Names the secret it is sealed under, without revealing it. */
  readonly secretId: string;
  /** How many rows follow. */
  readonly rows: number;
}

export interface TableRecord {
  readonly record: "table";
  readonly name: string;
  readonly columns: readonly string[];
}

export interface EndRecord {
  readonly record: "end";
  /** Rows by table. */
  readonly rows: Readonly<Record<string, number>>;
}

export type BackupValue = string | number | null;

/** The backup cannot be used as it is; the sentence says why and what to do. */
export class BackupRefused extends Error {
  override readonly name = "BackupRefused";
}

/** Told from time to time how far a backup or restore has come. */
export type OnProgress = (progress: { readonly done: number; readonly total: number; readonly table: string }) => void;
