import { existsSync, globSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";

/** A file that is served as it is, read once: no address can lead anywhere else on the disk. */
export interface StaticFile {
  readonly type: string;
  readonly plain: Buffer;
  /** Compressed beforehand, by the name of the encoding. */
  readonly encoded: Readonly<Partial<Record<"br" | "gzip", Buffer>>>;
}

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml; charset=utf-8",
  ".png": "image/png",
  ".webmanifest": "application/manifest+json; charset=utf-8",
};

/** The files of a folder by their paths in it; what is of no known type is not served. */
export function loadStaticFiles(folder: string): ReadonlyMap<string, StaticFile> {
  const names = globSync("**/*", { cwd: folder }).filter((name) => extname(name) in types);
  return new Map(names.map((name) => [name.replaceAll("\\", "/"), load(join(folder, name))]));
}

function load(path: string): StaticFile {
  const beside = (extension: string) => (existsSync(path + extension) ? readFileSync(path + extension) : undefined);
  const [br, gzip] = [beside(".br"), beside(".gz")];
  const type = types[extname(path)] as string;
  return { type, plain: readFileSync(path), encoded: { ...(br && { br }), ...(gzip && { gzip }) } };
}

/** The body for what a client accepts, and the headers that say which it is. */
export function negotiate(file: StaticFile, acceptEncoding: string | undefined) {
  const headers = { "content-type": file.type, vary: "Accept-Encoding" };
  for (const encoding of ["br", "gzip"] as const) {
    const body = file.encoded[encoding];
    if (body && accepts(acceptEncoding, encoding))
      return { body, headers: { ...headers, "content-encoding": encoding } };
  }
  return { body: file.plain, headers };
}

function accepts(header = "", encoding: string): boolean {
  return header.split(",").some((item) => {
    const [name = "", ...parameters] = item.split(";").map((part) => part.trim().toLowerCase());
    return name === encoding && !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter));
  });
}
