import { randomUUID } from "node:crypto";
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import type { ImportCounts } from "./import-people.ts";

/** How far an import has come. Rows behind it may be in the database too: importing a row twice changes nothing. */
export interface Checkpoint {
  readonly tenantId: string;
  /** Bytes of the imported file, to know it again. */
  readonly fileSize: number;
  readonly importId: string;
  /** The last line that is in the database, or in the reject file. */
  readonly line: number;
  /** Bytes of the reject file at that moment. */
  readonly rejectsSize: number;
  readonly counts: ImportCounts;
}

/** The checkpoint of an earlier run over the same file into the same tenant; null where there is none. */
export async function readCheckpoint(
  path: string,
  { tenantId, fileSize }: Pick<Checkpoint, "tenantId" | "fileSize">,
): Promise<Checkpoint | null> {
  try {
    const checkpoint = JSON.parse(await readFile(path, "utf8")) as Checkpoint;
    return checkpoint.tenantId === tenantId && checkpoint.fileSize === fileSize ? checkpoint : null;
  } catch (error) {
    if (error instanceof SyntaxError || (error instanceof Error && "code" in error && error.code === "ENOENT"))
      return null;
    throw error;
  }
}

/** Puts a checkpoint in the place of the last one; whoever reads finds one of the two, whole. */
export async function writeCheckpoint(path: string, checkpoint: Checkpoint): Promise<void> {
  const draft = `${path}.${randomUUID()}.partial`;
  try {
    await writeFile(draft, `${JSON.stringify(checkpoint)}\n`, { mode: 0o600, flag: "wx" });
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

export async function removeCheckpoint(path: string): Promise<void> {
  await rm(path, { force: true });
}
