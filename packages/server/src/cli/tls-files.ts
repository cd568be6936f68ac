import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Config } from "../config/config.ts";

export type TlsVerdict =
  | { readonly certificate: X509Certificate }
  | { readonly problem: string; readonly remedy: string };

/** Whether the certificate and its key can be read and belong together. */
export function readTlsFiles(tls: NonNullable<Config["tls"]>): TlsVerdict {
  try {
    const certificate = new X509Certificate(readFileSync(tls.cert));
    if (certificate.checkPrivateKey(createPrivateKey(readFileSync(tls.key)))) return { certificate };
    return {
      problem: `The key ${tls.key} does not belong to the certificate ${tls.cert}.`,
      remedy: "Set FIELDGATE_TLS_CERT and FIELDGATE_TLS_KEY to the pair that belongs together.",
    };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return {
      problem: `The certificate ${tls.cert} or its key ${tls.key} cannot be used (${reason}).`,
      remedy: "Both must be PEM files that this user can read.",
    };
  }
}
