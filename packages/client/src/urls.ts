import { ConfigurationError } from "./errors.ts";

const loopback = /^((.+\.)?localhost|127(\.\d+){3}|\[::1\])$/;

/** A base URL without a slash at its end. A token goes over https only, or does not leave this machine. */
export function checkUrl(field: string, value: unknown): string {
  if (!URL.canParse(value as string)) {
    throw new ConfigurationError(field, `"${value}" is not a URL such as https://auth.example.org`);
  }
  const url = new URL(value as string);
  const isLocal = url.protocol === "http:" && loopback.test(url.hostname);
  if ((url.protocol !== "https:" && !isLocal) || url.search || url.hash || url.username) {
    throw new ConfigurationError(field, `"${value}" must be https (or on localhost), no query`);
  }
  return url.href.replace(/\/+$/, "");
}
