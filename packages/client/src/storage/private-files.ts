import { randomUUID } from "node:crypto";
import { link, mkdir, open, readdir, readFile, rename, stat, unlink } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";

/** Where a client keeps its files unless it is told otherwise. */
export const defaultDirectory = (): string => join(homedir(), ".fieldgate");

const isMissing = (error: unknown) => (error as NodeJS.ErrnoException).code === "ENOENT";

/**
 * A directory only its owner can look into. Writes are whole and durable: a file is written beside its place, flushed, moved
 * there, and the directory flushed.
 */
export class PrivateDirectory {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /** Makes the directory, and clears away what a killed process left half-written in it. */
  async create(): Promise<void> {
    await mkdir(this.#path, { recursive: true, mode: 0o700 });
    const begun = (await readdir(this.#path)).filter((name) => name.startsWith("."));
    for (const name of begun) {
      const age = Date.now() - ((await stat(join(this.#path, name)).catch(() => null))?.mtimeMs ?? Date.now());
      if (Math.abs(age) > 60_000) await this.remove(name);
    }
  }

  async list(): Promise<string[]> {
    try {
      return (await readdir(this.#path)).filter((name) => !name.startsWith("."));
    } catch (error) {
      if (isMissing(error)) return [];
      throw error;
    }
  }

  async read(name: string): Promise<Buffer | null> {
    try {
      return await readFile(join(this.#path, name));
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  }

  async write(name: string, content: string | Uint8Array): Promise<void> {
    await rename(await this.#writeBeside(content), join(this.#path, name));
    await this.flush();
  }

  /** Writes a file unless it exists; false when it does. */
  async writeOnce(name: string, content: string | Uint8Array): Promise<boolean> {
    const beside = await this.#writeBeside(content);
    try {
      await link(beside, join(this.#path, name));
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
      throw error;
    } finally {
      await unlink(beside);
      await this.flush();
    }
  }

  /** Gives a file another name; false when there is none of the old name. Of several that try at once, one succeeds. */
  async move(from: string, to: string): Promise<boolean> {
    try {
      await rename(join(this.#path, from), join(this.#path, to));
    } catch (error) {
      if (isMissing(error)) return false;
      throw error;
    }
    await this.flush();
    return true;
  }

  async remove(name: string): Promise<void> {
    try {
      await unlink(join(this.#path, name));
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
  }

  async flush(): Promise<void> {
    // Windows cannot open a directory, and needs no flush to keep a new name.
    if (process.platform === "win32") return;
    const directory = await open(this.#path, "r");
    try {
      await directory.sync();
    } finally {
      await directory.close();
    }
  }

  async #writeBeside(content: string | Uint8Array): Promise<string> {
    await mkdir(this.#path, { recursive: true, mode: 0o700 });
    const path = join(this.#path, `.${randomUUID()}`);
    const file = await open(path, "wx", 0o600);
    try {
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    return path;
  }
}
