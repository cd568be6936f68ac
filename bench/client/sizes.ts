import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { build, minify } from "vite";

export interface Size {
  readonly name: string;
  /** Bytes, minified and then compressed by gzip -9, each file by itself. */
  readonly loaded: number;
  /** What a page loads only when it comes to use it. */
  readonly later: number;
  readonly limit: number | null;
}

interface Chunk {
  readonly fileName: string;
  readonly code: string;
  readonly isEntry: boolean;
  readonly imports: readonly string[];
  readonly facadeModuleId: string | null;
}

/** Builds a page as an app's bundler would. */
async function bundle(entry: string): Promise<Chunk[]> {
  const outputs = await build({
    configFile: false,
    logLevel: "error",
    build: {
      write: false,
      minify: false,
      target: "esnext",
      lib: { entry, formats: ["es"], fileName: "entry" },
      // As in an app: parts that are loaded later may import from the entry itself.
      rolldownOptions: { preserveEntrySignatures: false },
    },
  });
  const files = (Array.isArray(outputs) ? outputs : [outputs]).flatMap((each) => ("output" in each ? each.output : []));
  return files.filter((file) => file.type === "chunk");
}

async function compressed({ fileName, code }: Chunk): Promise<number> {
  const { code: small, errors } = await minify(fileName, code, { module: true, compress: true, mangle: true });
  if (errors.length > 0) throw new Error(`${fileName} cannot be minified: ${errors[0]?.message}`);
  return gzipSync(small, { level: 9 }).length;
}

/** The files a page loads: its entry, the dynamic parts that it uses, and what these import. */
function loadedBy(chunks: readonly Chunk[], used: readonly string[]): Set<Chunk> {
  const loaded = new Set<Chunk>();
  const visit = (chunk: Chunk | undefined): void => {
    if (!chunk || loaded.has(chunk)) return;
    loaded.add(chunk);
    for (const name of chunk.imports) visit(chunks.find(({ fileName }) => fileName === name));
  };
  for (const chunk of chunks) {
    if (chunk.isEntry || used.some((end) => chunk.facadeModuleId?.endsWith(end))) visit(chunk);
  }
  return loaded;
}

async function measure(name: string, entry: string, used: readonly string[], limit: number | null): Promise<Size> {
  const chunks = await bundle(entry);
  const loaded = loadedBy(chunks, used);
  const size = { loaded: 0, later: 0 };
  for (const chunk of chunks) size[loaded.has(chunk) ? "loaded" : "later"] += await compressed(chunk);
  return { name, ...size, limit };
}

const here = import.meta.dirname;

export async function measureSizes(): Promise<Size[]> {
  const citizen = join(here, "pages/citizen.ts");
  const everything = join(here, "pages/everything.ts");
  const all = ["adapters/otp.ts", "adapters/id.ts", "adapters/oidc.ts", "renewal/renewal.ts", "storage/memory.ts"];
  return [
    await measure("AuthManager + otp + IndexedDB", citizen, ["adapters/otp.ts"], 9000),
    await measure("all four adapters and all browser storages", everything, all, 17_000),
    ...(await measurePeers()),
  ];
}

/** The peers, measured the same way, where they are installed. */
async function measurePeers(): Promise<Size[]> {
  const peers = {
    "oidc-client-ts": `import * as peer from "oidc-client-ts";`,
    "@auth0/auth0-spa-js": `import { createAuth0Client as peer } from "@auth0/auth0-spa-js";`,
    "keycloak-js": `import peer from "keycloak-js";`,
  };
  const sizes: Size[] = [];
  for (const [name, code] of Object.entries(peers)) {
    if (!existsSync(join(here, "node_modules", name))) {
      process.stderr.write(`${name} is not installed, so it is not measured: npm install --prefix bench/client\n`);
      continue;
    }
    const entry = join(here, "node_modules", `.measure-${name.replaceAll(/\W/g, "-")}.js`);
    writeFileSync(entry, `${code} globalThis.peer = peer;`);
    sizes.push(await measure(name, entry, [], null));
  }
  return sizes;
}
