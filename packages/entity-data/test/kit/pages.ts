import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { build } from "vite";

export interface Pages {
  readonly url: string;
  close(): Promise<void>;
}

/** Builds a page from its script (`page.ts`) or its `index.html`, as an app's bundler would, and serves it. */
export async function servePage(root: string, input: string, attributes: () => string = () => ""): Promise<Pages> {
  const isPage = input.endsWith(".html");
  const outputs = await build({
    root,
    configFile: false,
    logLevel: "error",
    build: {
      write: false,
      minify: false,
      target: "es2023",
      ...(isPage ? { rolldownOptions: { input } } : { lib: { entry: { page: input }, formats: ["es"] } }),
    },
  });
  const files = (Array.isArray(outputs) ? outputs : [outputs]).flatMap((each) => ("output" in each ? each.output : []));
  const texts = new Map(
    files.map((file) => [`/${file.fileName}`, file.type === "chunk" ? file.code : `${file.source}`]),
  );
  const blank = `<!doctype html><html><title>Fieldgate</title><script type="module" src="/page.js"></script></html>`;
  const server = createServer(({ url = "/" }, response) => {
    const path = url === "/" ? "/index.html" : url;
    const text = texts.get(path) ?? (path === "/index.html" ? blank : undefined);
    const type = path.endsWith(".js") ? "text/javascript" : path.endsWith(".css") ? "text/css" : "text/html";
    response.writeHead(text === undefined ? 404 : 200, { "content-type": type });
    response.end(text?.replace("<html", `<html ${attributes()}`));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
