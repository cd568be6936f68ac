import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { build } from "vite";

/** Serves an empty page with the client's code, built as an app's bundler would. */
export interface PageServer {
  readonly port: number;
  /** A secure context. */
  readonly url: string;
  readonly insecureUrl: string;
  close(): Promise<void>;
}

interface Chunk {
  readonly fileName: string;
  readonly code: string;
}

async function bundle(): Promise<Map<string, string>> {
  const folder = join(import.meta.dirname, "../browser");
  const outputs = await build({
    configFile: false,
    logLevel: "error",
    root: folder,
    build: {
      write: false,
      minify: false,
      target: "es2023",
      modulePreload: false,
      lib: { entry: { page: join(folder, "page.ts"), worker: join(folder, "worker.ts") }, formats: ["es"] },
    },
  });
  const chunks = (Array.isArray(outputs) ? outputs : [outputs]).flatMap((each) =>
    "output" in each ? each.output : [],
  );
  return new Map(
    chunks
      .filter((each): each is typeof each & Chunk => "code" in each)
      .map((each) => [`/${each.fileName}`, each.code]),
  );
}

export async function servePages(): Promise<PageServer> {
  const scripts = await bundle();
  const server = createServer((request, response) => {
    const script = scripts.get(request.url ?? "");
    if (script !== undefined) return response.writeHead(200, { "content-type": "text/javascript" }).end(script);
    response.writeHead(200, { "content-type": "text/html" });
    response.end(`<!doctype html><title>Fieldgate</title><script type="module" src="/page.js"></script>`);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://localhost:${port}`,
    insecureUrl: `http://insecure.test:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
