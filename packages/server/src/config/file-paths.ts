import { resolve } from "node:path";
import type { Environment } from "./variable-reader.ts";

const pathVariables = [
  "FIELDGATE_DATA_DIR",
  "FIELDGATE_SECRET_FILE",
  "FIELDGATE_SECRET_PREVIOUS_FILE",
  "FIELDGATE_TLS_CERT",
  "FIELDGATE_TLS_KEY",
];

/** The variables with their relative paths made full ones. */
export function withPathsFrom(folder: string, env: Environment): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(env).map(([name, value]) => [name, value && fullPath(folder, name, value)]));
}

function fullPath(folder: string, name: string, value: string): string {
  const text = value.trim();
  if (text === "") return value;
  if (pathVariables.includes(name)) return resolve(folder, text);
  if (name === "FIELDGATE_DELIVERY" && text.startsWith("@")) return `@${resolve(folder, text.slice(1).trim())}`;
  // `sqlite::memory:` is none, and the parser says so.
  const file = name === "FIELDGATE_DATABASE_URL" ? /^sqlite:(?!\/|:)(.+)$/.exec(text)?.[1] : undefined;
  return file === undefined ? value : `sqlite:${resolve(folder, file)}`;
}
