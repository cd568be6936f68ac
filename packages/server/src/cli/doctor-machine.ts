import { accessSync, constants, existsSync, statfsSync, statSync } from "node:fs";
import { isIP } from "node:net";
import type { Config } from "../config/config.ts";
import { bad, type Finding, ok, warn } from "./doctor-finding.ts";
import { readTlsFiles } from "./tls-files.ts";

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
  const verdict = readTlsFiles(tls);
  if ("problem" in verdict) return [bad("tls", verdict.problem, verdict.remedy)];
  const { certificate } = verdict;
  const days = Math.floor((certificate.validToDate.getTime() - now) / dayMs);
  const host = new URL(baseUrl).hostname.replace(/^\[(.*)\]$/, "$1");
  const findings: Finding[] = [];
  if (!(isIP(host) ? certificate.checkIP(host) : certificate.checkHost(host))) {
    const remedy = "Get one for the host of FIELDGATE_BASE_URL.";
    findings.push(bad("tls", `The certificate ${tls.cert} is not for ${host}.`, remedy));
  }
  if (certificate.validFromDate.getTime() > now) {
    findings.push(bad("tls", `The certificate ${tls.cert} is not valid yet.`, "Check the machine's clock."));
  } else if (days < 0) {
    findings.push(bad("tls", `The certificate ${tls.cert} has expired.`, "Renew it and restart."));
  } else if (days < 14) {
    findings.push(warn("tls", `The certificate ${tls.cert} expires in ${days} days.`, "Renew it and restart."));
  }
  return findings.length > 0 ? findings : [ok("tls", `The certificate is good for ${days} days.`)];
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
