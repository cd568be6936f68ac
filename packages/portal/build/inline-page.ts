import { createHash } from "node:crypto";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The hashes by which the page's policy allows what is written into it. */
export interface InlineHashes {
  readonly scripts: readonly string[];
  readonly styles: readonly string[];
}

/** Where the inline core leaves what it exports, for the chunks that are loaded later. */
const shared = "globalThis.fieldgateCore";
const entryTag = /\s*<script type="module" crossorigin src="\.\/(assets\/index-[^"]+\.js)"><\/script>/;
const styleTag = /<link rel="stylesheet" crossorigin href="\.\/(assets\/[^"]+\.css)">/;
const preloadTag = /\s*<link rel="modulepreload" [^>]*>/g;
const coreImport = /import\{([^}]+)\}from"\.\/(core-[^"]+\.js)";/;
const coreExport = /export\{([^}]+)\};?\s*$/;

/**
 * Writes the script and style of the first screen into the page: on a slow network each further file costs seconds. An inline module
 * cannot be imported, so the core leaves its exports where a small file finds them, and an import map leads the later chunks of this
 * page, and of no other, to that file.
 */
export function inlinePage(folder: string): InlineHashes {
  const read = (name: string) => readFileSync(join(folder, name), "utf8");
  const page = read("index.html");
  const [entryFile] = must(page, entryTag);
  const [styleFile] = must(page, styleTag);
  const [imported, coreFile] = must(read(entryFile), coreImport);
  const core = read(`assets/${coreFile}`);
  const [exported] = must(core, coreExport);
  const pairs = exported.split(",").map((item) => item.split(" as ") as [string, string]);
  const doorFile = coreFile.replace("core-", "page-core-");
  writeFileSync(
    join(folder, "assets", doorFile),
    `const fieldgateCore=${shared};export const ${pairs.map(([, name]) => `${name}=fieldgateCore.${name}`).join(",")};`,
  );
  const importMap = JSON.stringify({ imports: { [`./assets/${coreFile}`]: `./assets/${doorFile}` } });
  const scripts = [
    core.replace(coreExport, () => `${shared}={${pairs.map(([local, name]) => `${name}:${local}`).join(",")}};`),
    read(entryFile).replace(coreImport, () => `const{${imported.replaceAll(" as ", ":")}}=${shared};`),
  ].map(asInlineScript);
  const style = read(styleFile).trim();
  if (/<\/style/i.test(style)) throw new Error(`${styleFile} would end the page's style element.`);
  const body = scripts.map((script) => `<script type="module">${script}</script>\n  `).join("");
  const written = page
    .replace(entryTag, () => `\n    <script type="importmap">${importMap}</script>`)
    .replace(preloadTag, "")
    .replace(styleTag, () => `<style>${style}</style>`)
    .replace("</body>", () => `${body}</body>`);
  writeFileSync(join(folder, "index.html"), written);
  for (const name of [entryFile, styleFile]) rmSync(join(folder, name));
  return { scripts: [importMap, ...scripts].map(hashOf), styles: [hashOf(style)] };
}

/** In the page its files are one folder further away, and nothing in the code may look like an end of the script to the HTML parser. */
export function asInlineScript(code: string): string {
  return code
    .replaceAll(/\bimport\((["'`])\.\//g, "import($1./assets/")
    .replaceAll(/<(?=\/script|script|!--)/gi, "\\x3c")
    .replaceAll("\r\n", "\n")
    .trim();
}

const hashOf = (text: string) => `sha256-${createHash("sha256").update(text).digest("base64")}`;

/** Whatever a new bundler writes differently must fail the build, not the visitor. */
function must(text: string, pattern: RegExp): readonly [string, string] {
  const found = pattern.exec(text);
  if (!found) throw new Error(`The bundle has changed its form: ${pattern} is not in it.`);
  return [found[1] ?? "", found[2] ?? ""];
}
