import { open } from "node:fs/promises";

/** Makes the name of a new or renamed file durable, as `sync` on the file makes its content. */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, "r");
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
