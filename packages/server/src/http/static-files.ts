import { createHash } from "node:crypto";
import { existsSync, globSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

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

/** What is made while the service runs, compressed outside of its thread; harder would take ten times as long for a twelfth less. */
export async function compressed(type: string, plain: Buffer): Promise<StaticFile> {
  const [br, gz] = await Promise.all([
    promisify(brotliCompress)(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
    promisify(gzip)(plain),
  ]);
  return { type, plain, encoded: { br, gzip: gz } };
}

/** Names an answer by its body and by the headers that must change with it. */
export const entityTag = (headers: string, body: Buffer): string =>
  `"${createHash("sha256").update(headers).update("\0").update(body).digest("base64url")}"`;

/** The client has this very answer. */
export const isKept = (etag: string, ifNoneMatch = ""): boolean =>
  ifNoneMatch.split(",").some((tag) => tag.trim().replace(/^W\//, "") === etag);

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
