import { randomBytes } from "node:crypto";
import { chmodSync, linkSync, mkdirSync, readFileSync, statSync, unlinkSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { parseEnv } from "node:util";
import type { Config } from "./config.ts";
import { ConfigError } from "./config-error.ts";
import { withPathsFrom } from "./file-paths.ts";
import { defaultDataDir, parseConfig } from "./parse-config.ts";
import type { Environment } from "./variable-reader.ts";
import { variableNames } from "./variables.ts";

export interface LoadOptions {
  readonly cwd?: string;
  readonly dev?: boolean;
  /** A file that must exist; left out, `fieldgate.env` is read where it exists; null, no file is read. */
  readonly file?: string | null;
  /** Told what works but should be changed. */
  readonly onWarning?: (sentence: string) => void;
}

/** The configuration file that is read by itself. */
export const configFileName = "fieldgate.env";

/**
 * Reads the configuration from variables and, for those not set, from the configuration file. Relative paths in the file,
 * and the default data directory, start from the file's folder, so that a deployment is the same wherever a command is
 * run; those of variables start from `cwd`.
 */
export function loadConfig(env: Environment, options: LoadOptions = {}): Config {
  const cwd = options.cwd ?? process.cwd();
  const dev = options.dev ?? false;
  const folder = dirname(resolve(cwd, options.file ?? configFileName));
  const given = Object.entries(env).filter(([, value]) => value !== undefined && value.trim() !== "");
  const merged: Record<string, string | undefined> = {
    ...readConfigFile(cwd, options),
    ...withPathsFrom(cwd, Object.fromEntries(given)),
  };
  if (dev && !merged.FIELDGATE_SECRET && !merged.FIELDGATE_SECRET_FILE) {
    merged.FIELDGATE_SECRET = developmentSecret(resolve(folder, merged.FIELDGATE_DATA_DIR ?? defaultDataDir));
  }
  return parseConfig(merged, { cwd: folder, dev });
}

function readConfigFile(cwd: string, { file, onWarning }: LoadOptions): Environment {
  if (file === null) return {};
  const path = resolve(cwd, file ?? configFileName);
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unreadable";
    if (code === "ENOENT" && file === undefined) return {};
    const sentence = code === "ENOENT" ? `There is no file ${path}.` : `${path} cannot be read (${code}).`;
    throw new ConfigError([{ variable: file === undefined ? configFileName : "--config", sentence }]);
  }
  if ((statSync(path).mode & 0o077) !== 0) {
    onWarning?.(`warning: ${path} holds secrets and others on this machine may read it. Run: chmod 600 ${path}`);
  }
  const found = parseEnv(text);
  const known = new Set<string>([...variableNames, "HOST", "PORT"]);
  const strange = Object.keys(found).filter((name) => !known.has(name) && !name.startsWith("FIELDGATE_"));
  if (strange.length > 0) onWarning?.(`warning: ${path} sets ${strange.join(", ")}, which Fieldgate does not read.`);
  return Object.fromEntries(Object.entries(found).filter(([name]) => !strange.includes(name)));
}

/** In development a secret is made once and kept, so that what was signed in yesterday is so today. */
function developmentSecret(dataDir: string): string {
  const file = join(dataDir, "development-secret");
  const draft = `${file}.${process.pid}`;
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  writeFileSync(draft, `${randomBytes(32).toString("base64url")}\n`, { mode: 0o600 });
  try {
    // A link appears with its content or not at all, whoever else starts at this moment.
    linkSync(draft, file);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    chmodSync(file, 0o600);
  } finally {
    unlinkSync(draft);
  }
  return readFileSync(file, "utf8").trim();
}
