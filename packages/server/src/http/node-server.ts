import { readFileSync } from "node:fs";
import { createServer as createPlainServer, type RequestListener, type Server, type ServerOptions } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { HttpSettings } from "./http-settings.ts";

type MessageClasses = Pick<ServerOptions, "IncomingMessage" | "ServerResponse">;

/** Node's server with our limits, speaking TLS itself where it was given a certificate. */
export function createNodeServer(
  { limits, tls }: Pick<HttpSettings, "limits" | "tls">,
  classes: MessageClasses,
  listener: RequestListener,
): Server {
  const options = {
    ...classes,
    headersTimeout: limits.headersTimeout * 1000,
    requestTimeout: limits.requestTimeout * 1000,
    // How often Node looks for connections that are too slow; its own 30 s would stretch every limit.
    connectionsCheckingInterval: 500,
    // Longer than the idle time of common balancers, so that they are the ones who close.
    keepAliveTimeout: 72_000,
    maxHeaderSize: 16 * 1024,
    // The guard asks for the host itself, and answers in our form.
    requireHostHeader: false,
  };
  const server: Server = tls
    ? createTlsServer({ ...options, cert: readTlsFile("cert", tls.cert), key: readTlsFile("key", tls.key) }, listener)
    : createPlainServer(options, listener);
  // A peer that neither sends nor reads any more is let go.
  server.timeout = 2 * limits.requestTimeout * 1000;
  // The size of all headers is limited; a limit on their number would drop some without a word.
  server.maxHeadersCount = 0;
  // An expectation other than 100-continue is ignored, as RFC 9110 allows.
  server.on("checkExpectation", listener);
  return server;
}

function readTlsFile(name: "cert" | "key", file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (cause) {
    throw new Error(`tls.${name}: the file ${file} cannot be read. Check its path and who may read it.`, { cause });
  }
}
