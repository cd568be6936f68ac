import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { tenantIdPattern } from "@fieldgate/contract";
import type { Config, DatabaseConfig } from "./config.ts";
import { deepFreeze } from "./deep-freeze.ts";
import { parseDelivery } from "./parse-delivery.ts";
import {
  readBaseUrl,
  readInternalHosts,
  readListen,
  readMetrics,
  readOrigins,
  readProxies,
  readTls,
} from "./parse-network.ts";
import { parsePolicy } from "./parse-policy.ts";
import { parseSecret } from "./secret.ts";
import { type Environment, VariableReader } from "./variable-reader.ts";

export interface ParseOptions {
  /** Development: http on this machine only, and a base URL by default. */
  readonly dev?: boolean;
  /** What relative paths start from. */
  readonly cwd?: string;
  /** Reads the file of a `…_FILE` variable. */
  readonly readFile?: (path: string) => string;
}

export const defaultDataDir = ".fieldgate";
const logLevels = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;

/**
 * Makes the configuration from variables. An empty variable counts as absent.
 *
 * @throws ConfigError that lists every variable that is wrong.
 */
export function parseConfig(env: Environment, options: ParseOptions = {}): Config {
  const dev = options.dev ?? false;
  const cwd = options.cwd ?? process.cwd();
  const readFile = options.readFile ?? ((path: string) => readFileSync(resolve(cwd, path), "utf8"));
  const reader = new VariableReader(env, readFile);
  reader.refuseUnknown();

  const tls = readTls(reader, cwd);
  const listen = readListen(reader, dev, tls !== null);
  const baseUrl = readBaseUrl(reader, dev, { listen, tls });
  const dataDir = resolve(cwd, reader.get("FIELDGATE_DATA_DIR") ?? defaultDataDir);
  const secret = readSecret(reader, "FIELDGATE_SECRET");
  if (!secret) {
    const sentence = "is missing. Make one with `openssl rand -base64 32`, or let `fieldgate init` do it.";
    reader.problemUnlessTold("FIELDGATE_SECRET", sentence);
  }
  const previousSecret = readSecret(reader, "FIELDGATE_SECRET_PREVIOUS");
  if (secret && previousSecret && Buffer.compare(secret, previousSecret) === 0) {
    reader.problem("FIELDGATE_SECRET_PREVIOUS", "is the same as FIELDGATE_SECRET. Leave it out.");
  }
  const config: Config = {
    mode: dev ? "development" : "production",
    baseUrl,
    audience: reader.get("FIELDGATE_AUDIENCE") ?? baseUrl,
    listen,
    tls,
    metrics: readMetrics(reader),
    secret: secret ?? new Uint8Array(),
    previousSecret,
    database: readDatabase(reader, cwd, dataDir),
    dataDir,
    delivery: readDelivery(reader, readFile),
    defaultTenant: readDefaultTenant(reader),
    corsOrigins: readOrigins(reader, dev),
    trustedProxies: readProxies(reader),
    internalHosts: readInternalHosts(reader),
    logLevel: readLogLevel(reader),
    policy: readPolicy(reader),
  };
  reader.throwProblems();
  return deepFreeze(config);
}

function readSecret(
  reader: VariableReader,
  variable: "FIELDGATE_SECRET" | "FIELDGATE_SECRET_PREVIOUS",
): Uint8Array | null {
  const text = reader.getOrFile(variable);
  if (text === undefined) return null;
  const verdict = parseSecret(text);
  if ("secret" in verdict) return verdict.secret;
  reader.problem(variable, verdict.problem);
  return null;
}

function readDatabase(reader: VariableReader, cwd: string, dataDir: string): DatabaseConfig {
  const text = reader.get("FIELDGATE_DATABASE_URL");
  const poolSize = reader.whole("FIELDGATE_DATABASE_POOL", 1, 500) ?? 10;
  const inDataDir: DatabaseConfig = { kind: "sqlite", file: join(dataDir, "fieldgate.db") };
  if (text === undefined) return inDataDir;
  // The address holds a password: no sentence repeats it.
  if (/^postgres(ql)?:\/\//.test(text)) {
    if (!URL.canParse(text)) {
      reader.problem("FIELDGATE_DATABASE_URL", "is not a URL. Special characters in the password need %-encoding.");
    }
    return { kind: "postgres", url: text, poolSize };
  }
  const file = /^sqlite:(?:\/\/(?=\/))?(.+)$/.exec(text)?.[1];
  if (file !== undefined && file !== ":memory:" && !/[?#]/.test(file)) {
    return { kind: "sqlite", file: resolve(cwd, file) };
  }
  reader.problem("FIELDGATE_DATABASE_URL", "must start with postgres:// or be sqlite:PATH of a file.");
  return inDataDir;
}

function readDelivery(reader: VariableReader, readFile: (path: string) => string): Config["delivery"] {
  const text = reader.get("FIELDGATE_DELIVERY");
  if (text === undefined) return [];
  const { channels, problems } = parseDelivery(text, readFile);
  for (const { variable, sentence } of problems) reader.problem(variable, sentence);
  return channels;
}

function readDefaultTenant(reader: VariableReader): string | null {
  const tenant = reader.get("FIELDGATE_DEFAULT_TENANT") ?? null;
  if (tenant !== null && !new RegExp(tenantIdPattern).test(tenant)) {
    reader.problem("FIELDGATE_DEFAULT_TENANT", `must be the id of a tenant, in lower case: got "${tenant}".`);
  }
  return tenant;
}

function readLogLevel(reader: VariableReader): Config["logLevel"] {
  const text = reader.get("FIELDGATE_LOG_LEVEL") ?? "info";
  const level = logLevels.find((known) => known === text);
  if (!level) reader.problem("FIELDGATE_LOG_LEVEL", `must be one of ${logLevels.join(", ")}: got "${text}".`);
  return level ?? "info";
}

function readPolicy(reader: VariableReader): Config["policy"] {
  const { policy, problems } = parsePolicy(reader.get("FIELDGATE_POLICY") ?? "{}");
  for (const sentence of problems) reader.problem("FIELDGATE_POLICY", sentence);
  return policy;
}
