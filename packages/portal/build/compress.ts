import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";

/** Lays a `.br` and a `.gz` beside each text: the service sends them as they are. */
export function compressFolder(folder: string): void {
  for (const name of globSync("**/*.{html,js,css,svg,webmanifest}", { cwd: folder })) {
    const file = join(folder, name);
    // The service writes into the page, and compresses it by itself.
    if (name === "index.html") continue;
    const text = readFileSync(file);
    writeFileSync(`${file}.br`, brotliCompressSync(text));
    writeFileSync(`${file}.gz`, gzipSync(text, { level: 9 }));
  }
}
