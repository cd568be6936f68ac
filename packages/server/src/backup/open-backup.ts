import { type FileHandle, open } from "node:fs/promises";
import { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { splitLines } from "../lines.ts";
import { createKeyVault } from "../tokens/key-vault.ts";
import { type BackupHeader, BackupRefused, type BackupValue, type EndRecord, type TableRecord } from "./format.ts";
import { backupKey, isSealed, readContent } from "./seal.ts";

/** Rows of one table, as many as the reader gives at a time. */
export interface BackupPage {
  readonly table: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly BackupValue[])[];
}

/** A backup whose every byte is known to be as this deployment wrote it. */
export interface OpenBackup {
  readonly header: BackupHeader;
  pages(): AsyncGenerator<BackupPage, EndRecord>;
  close(): Promise<void>;
}

const pageSize = 500;

/** Opens a backup that one of the secrets has sealed, and reads all of it once before it believes anything. */
export async function openBackup(path: string, secrets: readonly Uint8Array[]): Promise<OpenBackup> {
  const file = await openFile(path);
  try {
    const { size } = await file.stat();
    const isGenuine = await isSealed(file, size, secrets.map(backupKey));
    if (!isGenuine) throw await explainRefusal(path, file, size, secrets);
    const header = await readHeader(file, size);
    if (header?.format !== "fieldgate-backup" || header.version !== 1) {
      throw new BackupRefused(`${path} was made by a newer Fieldgate. Restore it with that version.`);
    }
    return { header, pages: () => readPages(file, size), close: () => file.close() };
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function openFile(path: string): Promise<FileHandle> {
  try {
    return await open(path, "r");
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unreadable";
    throw new BackupRefused(code === "ENOENT" ? `There is no file ${path}.` : `${path} cannot be read (${code}).`);
  }
}

/** Nothing in the file can be trusted here; what it says about itself only helps to say what to do. */
async function explainRefusal(path: string, file: FileHandle, size: number, secrets: readonly Uint8Array[]) {
  const header = await readHeader(file, size).catch(() => null);
  if (header?.format !== "fieldgate-backup") return new BackupRefused(`${path} is not a Fieldgate backup.`);
  const known = secrets.map((secret) => createKeyVault(secret).secretId);
  if (!known.includes(header.secretId)) {
    return new BackupRefused(
      `${path} was made under another deployment secret (${header.secretId}). ` +
        "Set FIELDGATE_SECRET, or FIELDGATE_SECRET_PREVIOUS, to the secret of that time.",
    );
  }
  return new BackupRefused(`${path} was cut or changed since it was made. Nothing was restored; take another copy.`);
}

async function readHeader(file: FileHandle, size: number): Promise<BackupHeader | null> {
  for await (const line of readLines(file, size)) return JSON.parse(line) as BackupHeader;
  return null;
}

async function* readLines(file: FileHandle, size: number): AsyncGenerator<string> {
  const content = Readable.from(readContent(file, size));
  const unzipped = createGunzip();
  content.once("error", (error) => unzipped.destroy(error));
  try {
    yield* splitLines(content.pipe(unzipped));
  } finally {
    content.destroy();
    unzipped.destroy();
  }
}

async function* readPages(file: FileHandle, size: number): AsyncGenerator<BackupPage, EndRecord> {
  let table: TableRecord | null = null;
  let rows: BackupValue[][] = [];
  for await (const line of readLines(file, size)) {
    const value = JSON.parse(line) as BackupValue[] | BackupHeader | TableRecord | EndRecord;
    if (Array.isArray(value)) rows.push(value);
    if (table && rows.length > 0 && (!Array.isArray(value) || rows.length === pageSize)) {
      yield { table: table.name, columns: table.columns, rows };
      rows = [];
    }
    if (Array.isArray(value) || value.record === "header") continue;
    if (value.record === "end") return value;
    table = value;
  }
  throw new BackupRefused("The backup has no end.");
}
