import { ConfigurationError } from "./errors.ts";

const loopback = /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\])$/;

/** A base URL without a slash at its end. A token goes over https only, or does not leave this machine. */
export function checkUrl(field: string, value: unknown): string {
  const url = typeof value === "string" && URL.canParse(value) ? new URL(value) : null;
  if (!url)
    throw new ConfigurationError(field, `needs a URL such as https://auth.example.org, not ${JSON.stringify(value)}`);
  if (url.protocol !== "https:" && !(url.protocol === "http:" && loopback.test(url.hostname))) {
    throw new ConfigurationError(field, `"${value}" must be https; http is for localhost only`);
  }
  if (url.search || url.hash || url.username) {
    throw new ConfigurationError(field, `"${value}" must have no credentials, query or fragment`);
  }
  return url.href.replace(/\/+$/, "");
}
