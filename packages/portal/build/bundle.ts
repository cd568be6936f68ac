import { join } from "node:path";
import { build, type Rolldown } from "vite";

/** What the service needs to know of the build. */
export interface PortalFiles {
  /** The script of each language, to be fetched together with the page. */
  readonly languages: Readonly<Record<string, string>>;
}

/** Bundles page, element and service worker into a folder. */
export async function bundle(home: string, outDir: string, version: string): Promise<PortalFiles> {
  const source = (path: string) => join(home, "src", path);
  const result = await build({
    configFile: false,
    logLevel: "error",
    root: source("page"),
    base: "./",
    publicDir: join(home, "public"),
    mode: "production",
    // The same whoever builds: a test runner would otherwise get the libraries' development code.
    resolve: { conditions: ["module", "browser", "production"] },
    define: { __BUILD__: JSON.stringify(version) },
    build: {
      outDir,
      emptyOutDir: true,
      target: "es2023",
      assetsInlineLimit: 0,
      reportCompressedSize: false,
      modulePreload: { polyfill: false },
      rolldownOptions: {
        input: {
          index: source("page/index.html"),
          "sign-in": source("sign-in/index.ts"),
          sw: source("page/service-worker.ts"),
        },
        output: {
          entryFileNames: ({ name }) => (name === "sign-in" || name === "sw" ? "[name].js" : "assets/[name]-[hash].js"),
          chunkFileNames: "assets/[name]-[hash].js",
          assetFileNames: "assets/[name]-[hash][extname]",
          codeSplitting: {
            // What every visit needs comes at once: on a slow network each further file costs seconds. Identity providers are for staff.
            groups: [
              {
                name: "core",
                test: /packages\/(client|contract)\/src(?!\/adapters\/oidc)|node_modules\/(lit|@lit)|portal\/src\/(sign-in(?!\/index)|camera)|strings\/(en|languages)/,
              },
            ],
          },
        },
      },
    },
  });
  const chunks = outputsOf(result);
  const languages = chunks.flatMap((chunk) => {
    const code = /\/strings\/(\w+)\.ts$/.exec(("facadeModuleId" in chunk && chunk.facadeModuleId) || "")?.[1];
    return code ? [[code, chunk.fileName]] : [];
  });
  return { languages: Object.fromEntries(languages) };
}

function outputsOf(result: Awaited<ReturnType<typeof build>>): (Rolldown.OutputChunk | Rolldown.OutputAsset)[] {
  return (Array.isArray(result) ? result : [result]).flatMap((each) => ("output" in each ? each.output : []));
}
