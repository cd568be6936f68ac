import { ConfigurationError } from "./errors.ts";

const loopback = /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\])$/;

/** A base URL without a slash at its end. A token goes over https only, or does not leave this machine. */
export function checkUrl(field: string, value: unknown): string {
  const url = typeof value === "string" && URL.canParse(value) ? new URL(value) : null;
  if (!url)
    throw new ConfigurationError(field, `${JSON.stringify(value)} is not a URL such as https://auth.example.org`);
  const isLocal = url.protocol === "http:" && loopback.test(url.hostname);
  if ((url.protocol !== "https:" && !isLocal) || url.search || url.hash || url.username) {
    throw new ConfigurationError(field, `"${value}" must be https (http for localhost only), without a query`);
  }
  return url.href.replace(/\/+$/, "");
}
