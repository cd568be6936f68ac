import { type FileHandle, mkdir, open } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { JWK } from "jose";
import { syncDirectory } from "../sync-directory.ts";
import type { Checkpoint } from "./checkpoint.ts";

/** A line of the checkpoint file. Keys are in it so that it can be checked without the database. */
export type CheckpointLine =
  | ({ readonly record: "checkpoint" } & Checkpoint)
  | { readonly record: "key"; readonly keyId: string; readonly publicJwk: JWK };

/** Where a node keeps the checkpoints it signed, outside the database. */
export function checkpointFile(dataDir: string): string {
  return join(dataDir, "journal", "checkpoints.ndjson");
}

/**
 * Appends lines and returns when they are on the disk. The file is opened anew each time, so it may be moved away
 * (logrotate, an archive) while the server runs.
 */
export async function appendCheckpointLines(path: string, lines: readonly CheckpointLine[]): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const file = await open(path, "a+", 0o600);
  try {
    const { size } = await file.stat();
    const text = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
    await file.appendFile((await endsMidLine(file, size)) ? `\n${text}` : text);
    await file.sync();
    if (size === 0) await syncDirectory(dirname(path));
  } finally {
    await file.close();
  }
}

/** A crash may have cut the last line; what follows must not be glued to it. */
async function endsMidLine(file: FileHandle, size: number): Promise<boolean> {
  if (size === 0) return false;
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, size - 1);
  return buffer[0] !== 0x0a;
}
