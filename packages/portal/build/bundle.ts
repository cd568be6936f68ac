import { join } from "node:path";
import { build } from "vite";
import { ar } from "../src/strings/ar.ts";
import type { Strings } from "../src/strings/en.ts";
import { es } from "../src/strings/es.ts";
import { fr } from "../src/strings/fr.ts";
import type { LanguageCode } from "../src/strings/languages.ts";
import { sw } from "../src/strings/sw.ts";
import { type InlineHashes, inlinePage } from "./inline-page.ts";

/** The sentences of each language, to be sent together with the page; English is in the script. */
const languages = { ar, es, fr, sw } satisfies Record<Exclude<LanguageCode, "en">, Strings>;

/** What the service needs to know of the build. */
export interface PortalFiles {
  readonly languages: Readonly<Record<string, Strings>>;
  readonly inline: InlineHashes;
}

/** Bundles page, element and service worker into a folder. */
export async function bundle(home: string, outDir: string, version: string): Promise<PortalFiles> {
  const source = (path: string) => join(home, "src", path);
  await build({
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
      // What is loaded later imports only what the page has already.
      modulePreload: false,
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
  return { languages, inline: inlinePage(outDir) };
}
