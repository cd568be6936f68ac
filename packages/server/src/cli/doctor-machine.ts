import { createPrivateKey, X509Certificate } from "node:crypto";
import { accessSync, constants, existsSync, readFileSync, statfsSync, statSync } from "node:fs";
import type { Config } from "../config/config.ts";
import { bad, type Finding, ok, warn } from "./doctor-finding.ts";

const mebibyte = 1024 * 1024;
const dayMs = 86_400_000;

/** Settings that are each right but do not work together. */
export function checkWiring({ mode, tls, trustedProxies }: Config): Finding[] {
  if (mode === "development" || tls !== null || trustedProxies.length > 0) return [];
  const sentence =
    "The service speaks plain http and trusts no proxy: every request will be answered with https_required.";
  return [
    warn(
      "https",
      sentence,
      "Set FIELDGATE_TRUSTED_PROXIES to the proxy that speaks https, or FIELDGATE_TLS_CERT and _KEY.",
    ),
  ];
}

export function checkTls({ tls, baseUrl }: Config, now: number): Finding[] {
  if (tls === null) return [];
  try {
    const certificate = new X509Certificate(readFileSync(tls.cert));
    const key = createPrivateKey(readFileSync(tls.key));
    if (!certificate.checkPrivateKey(key)) {
      return [
        bad(
          "tls",
          `The key ${tls.key} does not belong to the certificate ${tls.cert}.`,
          "Name the pair that belongs together.",
        ),
      ];
    }
    const findings: Finding[] = [];
    const host = new URL(baseUrl).hostname;
    if (!certificate.checkHost(host)) {
      findings.push(
        bad("tls", `The certificate ${tls.cert} is not for ${host}.`, "Get one for the host of FIELDGATE_BASE_URL."),
      );
    }
    const days = Math.floor((certificate.validToDate.getTime() - now) / dayMs);
    if (certificate.validFromDate.getTime() > now) {
      findings.push(bad("tls", `The certificate ${tls.cert} is not valid yet.`, "Check the machine's clock."));
    } else if (days < 0) findings.push(bad("tls", `The certificate ${tls.cert} has expired.`, "Renew it and restart."));
    else if (days < 14)
      findings.push(warn("tls", `The certificate ${tls.cert} expires in ${days} days.`, "Renew it and restart."));
    return findings.length > 0 ? findings : [ok("tls", `The certificate is good for ${days} days.`)];
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return [
      bad(
        "tls",
        `The certificate or its key cannot be used: ${reason}`,
        "Both must be PEM files that this user can read.",
      ),
    ];
  }
}

export function checkDataDir({ dataDir, database }: Config): Finding[] {
  if (!existsSync(dataDir)) {
    return [warn("data", `${dataDir} is not there yet.`, "It is made when the service starts, if this user may.")];
  }
  try {
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch {
    return [bad("data", `${dataDir} cannot be written by this user.`, "Give it to the user the service runs as.")];
  }
  const open = [dataDir, ...(database.kind === "sqlite" ? [database.file] : [])].filter(
    (path) => existsSync(path) && (statSync(path).mode & 0o077) !== 0,
  );
  const findings = open.map((path) =>
    warn("data", `Others on this machine may read ${path}.`, `Run: chmod go= ${path}`),
  );
  const { bavail, bsize } = statfsSync(dataDir);
  const free = Math.floor((bavail * bsize) / mebibyte);
  if (free < 100)
    return [
      ...findings,
      bad("disk", `${free} MiB are free for ${dataDir}.`, "Make room: without it nobody can sign in."),
    ];
  if (free < 1024)
    return [...findings, warn("disk", `${free} MiB are free for ${dataDir}.`, "Make room before it runs out.")];
  return [...findings, ok("disk", `${free} MiB are free for ${dataDir}.`)];
}
