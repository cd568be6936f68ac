import { execFileSync } from "node:child_process";
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * Builds what is published: plain JavaScript with its types, a package.json of its own, and a tarball of both. In the workspace the
 * packages are used as they are written; Node does not strip types below `node_modules`.
 *
 * node scripts/pack.ts [directory [package ...]]     default: dist, and all packages
 */
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const target = resolve(process.argv[2] ?? join(root, "dist"));
const packages = process.argv.length > 3 ? process.argv.slice(3) : ["contract", "client", "entity-data", "server"];

type Json = string | { [key: string]: Json };
interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly exports: Record<string, Json>;
  readonly imports?: Record<string, Json>;
  readonly [field: string]: unknown;
}

/** `./src/x.ts` becomes `./src/x.js`, at any depth. */
function toBuilt(value: Json): Json {
  if (typeof value === "string") return value.replace(/\.ts$/, ".js");
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, toBuilt(inner)]));
}

function withTypes(value: Json): Json {
  const built = toBuilt(value);
  return typeof built === "string" ? { types: built.replace(/\.js$/, ".d.ts"), default: built } : built;
}

function build(name: string): string {
  const source = join(root, "packages", name);
  const out = join(target, name);
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  // Beside what is built: two may pack at the same moment.
  const config = join(target, `${name}.tsconfig.json`);
  writeFileSync(config, JSON.stringify(compilerSettings(source, out)));
  try {
    execFileSync(join(root, "node_modules/.bin/tsc"), ["-p", config], { stdio: "inherit" });
  } finally {
    rmSync(config);
  }
  const { devDependencies, scripts, ...manifest } = JSON.parse(
    readFileSync(join(source, "package.json"), "utf8"),
  ) as Manifest;
  const published = {
    ...manifest,
    exports: Object.fromEntries(Object.entries(manifest.exports).map(([path, value]) => [path, withTypes(value)])),
    ...(manifest.imports && { imports: toBuilt(manifest.imports) }),
  };
  writeFileSync(join(out, "package.json"), `${JSON.stringify(published, null, 2)}\n`);
  for (const [from, to] of [
    [join(root, "LICENSE"), "LICENSE"],
    [join(source, "README.md"), "README.md"],
  ] as const) {
    if (existsSync(from)) cpSync(from, join(out, to));
  }
  copyAssets(name, source, out);
  const packed = execFileSync("npm", ["pack", "--silent", "--pack-destination", target], {
    cwd: out,
    encoding: "utf8",
  });
  return join(target, packed.trim().split("\n").at(-1) ?? "");
}

/** What the server has beside its code: its command, style sheets, pictures and the built portal. */
function copyAssets(name: string, source: string, out: string): void {
  for (const file of globSync("src/**/*.{css,svg}", { cwd: source })) cpSync(join(source, file), join(out, file));
  if (name !== "server") return;
  const command = readFileSync(join(source, "bin/fieldgate.js"), "utf8");
  mkdirSync(join(out, "bin"));
  writeFileSync(join(out, "bin/fieldgate.js"), command.replace("../src/main.ts", "../src/main.js"), { mode: 0o755 });
  execFileSync(process.execPath, [join(root, "packages/portal/build/main.ts")], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  cpSync(join(root, "packages/portal/dist"), join(out, "portal"), { recursive: true });
}

function compilerSettings(source: string, out: string) {
  const own = join(source, "tsconfig.json");
  return {
    extends: existsSync(own) ? own : join(root, "tsconfig.json"),
    compilerOptions: {
      noEmit: false,
      allowImportingTsExtensions: false,
      rewriteRelativeImportExtensions: true,
      typeRoots: [join(root, "node_modules/@types")],
      declaration: true,
      rootDir: source,
      outDir: out,
    },
    files: globSync("src/**/*.ts", { cwd: source })
      .filter((file) => !file.endsWith(".test.ts"))
      .map((file) => join(source, file)),
    include: [],
    exclude: [],
  };
}

for (const name of packages) process.stdout.write(`${build(name)}\n`);
