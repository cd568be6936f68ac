import { type FileHandle, open, rm } from "node:fs/promises";
import { csvLine, guardCell } from "./formula-guard.ts";
import type { RowRemark } from "./import-people.ts";
import { ImportRefused } from "./import-refused.ts";

const header = ["line", "outcome", "field", "reason"];
const headerLine = csvLine(header);

/** What became of rows that were not taken as they are: a CSV file for its owner alone, made when the first one comes. */
export interface RejectFile {
  readonly path: string;
  /** Bytes written, also by the run that this one goes on from. */
  readonly size: number;
  append(remarks: readonly RowRemark[]): Promise<void>;
  close(): Promise<void>;
}

export interface RejectOptions {
  /** The size at which an earlier run left it, to go on from; null to begin anew. */
  readonly resumeAt: number | null;
  /** Write the row itself too: the file then holds personal data. */
  readonly withData: boolean;
}

/** Replaces the file of an earlier run, and no other file. */
export async function openRejectFile(path: string, { resumeAt, withData }: RejectOptions): Promise<RejectFile> {
  await refuseForeignFile(path);
  let size = resumeAt ?? 0;
  let file: FileHandle | null = null;
  if (size === 0) await rm(path, { force: true });
  else {
    file = await open(path, "r+");
    await file.truncate(size);
  }
  return {
    path,
    get size() {
      return size;
    },
    async append(remarks) {
      if (remarks.length === 0) return;
      const lines = remarks.map(({ line, outcome, field, reason, data }) =>
        csvLine([String(line), outcome, field, reason, ...(withData ? data : [])].map(guardCell)),
      );
      const bytes = Buffer.from((file ? "" : headerLine) + lines.join(""));
      file ??= await create(path);
      for (let done = 0; done < bytes.length; ) {
        const { bytesWritten } = await file.write(bytes, done, bytes.length - done, size + done);
        done += bytesWritten;
      }
      size += bytes.length;
    },
    close: async () => file?.close(),
  };
}

async function create(path: string): Promise<FileHandle> {
  try {
    return await open(path, "wx", 0o600);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ImportRefused(`The reject file cannot be made: ${reason}. Is the same file imported twice at once?`);
  }
}

async function refuseForeignFile(path: string): Promise<void> {
  let file: FileHandle;
  try {
    file = await open(path, "r");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return;
    throw new ImportRefused(`${path} cannot be written: ${error instanceof Error ? error.message : String(error)}.`);
  }
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(headerLine.length), 0, headerLine.length, 0);
    if (buffer.subarray(0, bytesRead).toString() === headerLine) return;
  } finally {
    await file.close();
  }
  throw new ImportRefused(`${path} is there and is no reject file of an import. Name another with --rejects.`);
}
