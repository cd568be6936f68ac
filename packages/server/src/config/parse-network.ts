import { resolve } from "node:path";
import { hostInUrl, isAddressRange, isLoopbackHost, parseHostAndPort } from "./address.ts";
import type { Config } from "./config.ts";
import type { VariableReader } from "./variable-reader.ts";

const defaultPort = 3000;

export function readTls(reader: VariableReader, cwd: string): Config["tls"] {
  const cert = reader.get("FIELDGATE_TLS_CERT");
  const key = reader.get("FIELDGATE_TLS_KEY");
  if (cert !== undefined && key !== undefined) return { cert: resolve(cwd, cert), key: resolve(cwd, key) };
  if (cert !== undefined) reader.problem("FIELDGATE_TLS_KEY", "is missing: TLS needs the certificate and its key.");
  if (key !== undefined) reader.problem("FIELDGATE_TLS_CERT", "is missing: TLS needs the certificate and its key.");
  return null;
}

export function readListen(reader: VariableReader, dev: boolean, tls: boolean): Config["listen"] {
  const port = reader.whole(reader.get("FIELDGATE_PORT") ? "FIELDGATE_PORT" : "PORT", 0, 65_535) ?? defaultPort;
  const own = reader.get("FIELDGATE_HOST");
  if (dev) {
    if (own !== undefined && !isLoopbackHost(own)) {
      reader.problem("FIELDGATE_HOST", "cannot be used in development, which listens on this machine only.");
    }
    return { host: "127.0.0.1", port };
  }
  const host = own ?? reader.get("HOST") ?? (tls ? "0.0.0.0" : "127.0.0.1");
  if (/[\s/]/.test(host))
    reader.problem(own === undefined ? "HOST" : "FIELDGATE_HOST", `must be a host or an address: got "${host}".`);
  return { host: host.replace(/^\[(.*)\]$/, "$1"), port };
}

export function readBaseUrl(
  reader: VariableReader,
  dev: boolean,
  { listen, tls }: Pick<Config, "listen" | "tls">,
): string {
  const text = reader.get("FIELDGATE_BASE_URL");
  if (text === undefined) {
    if (dev) return `${tls ? "https" : "http"}://localhost:${listen.port}`;
    reader.problem(
      "FIELDGATE_BASE_URL",
      "is missing. Set it to where clients reach the service, such as https://id.example.org. " +
        "For the database of the demo (`npm start`) add --dev.",
    );
    return "";
  }
  const url = URL.parse(text);
  if (!url || (url.protocol !== "https:" && url.protocol !== "http:")) {
    reader.problem("FIELDGATE_BASE_URL", `must be a URL such as https://id.example.org: got "${text}".`);
    return "";
  }
  if (url.username || url.password || url.search || url.hash) {
    reader.problem("FIELDGATE_BASE_URL", "must not hold a user, a query (?) or a fragment (#).");
  } else if (url.protocol === "http:" && !dev) {
    reader.problem(
      "FIELDGATE_BASE_URL",
      "must start with https://. Only `serve --dev` accepts http, and only on this machine.",
    );
  } else if (url.protocol === "http:" && !isLoopbackHost(url.hostname)) {
    reader.problem("FIELDGATE_BASE_URL", "must start with https:// or be http://localhost in development.");
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, "");
}

export function readMetrics(reader: VariableReader): Config["metrics"] {
  const text = reader.get("FIELDGATE_METRICS");
  const token = reader.get("FIELDGATE_METRICS_TOKEN") ?? null;
  if (token !== null && token.length < 16) {
    reader.problem("FIELDGATE_METRICS_TOKEN", "must have at least 16 characters.");
  }
  if (text === undefined || text === "off") return null;
  const address = parseHostAndPort(text);
  if (!address) {
    reader.problem("FIELDGATE_METRICS", `must be host:port such as 127.0.0.1:9464, or off: got "${text}".`);
    return null;
  }
  if (!isLoopbackHost(address.host) && token === null) {
    reader.problem(
      "FIELDGATE_METRICS_TOKEN",
      `is missing: ${hostInUrl(address.host)} can be reached from other machines.`,
    );
  }
  return { ...address, token };
}

export function readOrigins(reader: VariableReader, dev: boolean): string[] {
  const origins = reader.list("FIELDGATE_CORS_ORIGINS").flatMap((text) => {
    const url = URL.parse(text);
    const accepted = url?.protocol === "https:" || (dev && url?.protocol === "http:" && isLoopbackHost(url.hostname));
    if (url && accepted && (text === url.origin || text === `${url.origin}/`)) return [url.origin];
    const why = text === "*" ? "lists exact origins; * would let every page call" : `has "${text}"`;
    reader.problem("FIELDGATE_CORS_ORIGINS", `${why}. Use origins such as https://app.example.org, without a path.`);
    return [];
  });
  return [...new Set(origins)];
}

export function readProxies(reader: VariableReader): string[] {
  const proxies = reader.list("FIELDGATE_TRUSTED_PROXIES");
  for (const text of proxies.filter((proxy) => !isAddressRange(proxy))) {
    reader.problem(
      "FIELDGATE_TRUSTED_PROXIES",
      `has "${text}". Use addresses such as 10.0.0.7 or ranges such as 10.0.0.0/24.`,
    );
  }
  return proxies;
}

export function readInternalHosts(reader: VariableReader): string[] {
  return reader.list("FIELDGATE_INTERNAL_HOSTS").map((text) => {
    const host = URL.parse(`https://${text}`);
    if (!host || host.host !== text.toLowerCase() || host.port !== "") {
      reader.problem(
        "FIELDGATE_INTERNAL_HOSTS",
        `has "${text}". Use host names or addresses such as sso.internal or [fd00::5], without scheme and port.`,
      );
    }
    return text.toLowerCase();
  });
}
