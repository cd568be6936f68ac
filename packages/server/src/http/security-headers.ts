import type { HttpSettings } from "./http-settings.ts";

/** Sent with every answer, whatever it is: nobody may change these. */
export function fixedHeaders(settings: Pick<HttpSettings, "mode" | "corsOrigins">): string[] {
  return [
    // A year, and the hosts below ours: what ASVS 3.4.1 asks for.
    ...(settings.mode === "production" ? ["Strict-Transport-Security", "max-age=31536000; includeSubDomains"] : []),
    "X-Content-Type-Options",
    "nosniff",
    "Referrer-Policy",
    "no-referrer",
    // A cache must never hand an answer made for one origin to another.
    ...(settings.corsOrigins.length > 0 ? ["Vary", "Origin"] : []),
  ];
}

/** Sent unless a route has a reason for another value. */
export const defaultHeaders = {
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cross-origin-resource-policy": "same-origin",
} as const;

/** What is the same for everyone until the next release or key may be kept for a while, so that nobody asks each time. */
export const publicForAWhile = "public, max-age=300";

/** For pages: their own style sheet and nothing else. No script, frame, form or other host. */
export const pagePolicy =
  "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
