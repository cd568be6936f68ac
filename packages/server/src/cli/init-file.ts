import { randomBytes } from "node:crypto";
import { parseEnv } from "node:util";
import { variables } from "../config/variables.ts";
import { CliFailure } from "./cli-failure.ts";
import type { InitAnswers } from "./init-answers.ts";

type Values = Record<string, string>;

/** `own` is what the new file sets; `all` adds what the environment sets, as it will when the service starts. */
export function initEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  { baseUrl, databaseUrl, tenant, delivery }: InitAnswers,
): { readonly own: Values; readonly all: Values } {
  const given = Object.entries(env).filter((entry): entry is [string, string] => (entry[1] ?? "").trim() !== "");
  const outside = Object.fromEntries(given);
  const hasSecret = "FIELDGATE_SECRET" in outside || "FIELDGATE_SECRET_FILE" in outside;
  const own = {
    FIELDGATE_BASE_URL: baseUrl,
    ...(!hasSecret && { FIELDGATE_SECRET: randomBytes(32).toString("base64") }),
    ...(databaseUrl !== "" && { FIELDGATE_DATABASE_URL: databaseUrl }),
    FIELDGATE_DEFAULT_TENANT: tenant,
    ...(delivery !== "" && { FIELDGATE_DELIVERY: delivery }),
  };
  return { own, all: { ...outside, ...own } };
}

const suggestions = [
  ["FIELDGATE_DELIVERY", "@channels.json"],
  ["FIELDGATE_TRUSTED_PROXIES", "127.0.0.1"],
  ["FIELDGATE_HOST", "0.0.0.0"],
  ["FIELDGATE_TLS_CERT", "/etc/fieldgate/cert.pem"],
  ["FIELDGATE_TLS_KEY", "/etc/fieldgate/key.pem"],
  ["FIELDGATE_METRICS", "127.0.0.1:9464"],
  ["FIELDGATE_CORS_ORIGINS", "https://app.example.org"],
] as const;

/** A configuration file that explains itself and is read back as it was meant. */
export function configFileText(own: Values): string {
  const set = Object.entries(own).map(([name, value]) => {
    // Single quotes keep every character as it is.
    const quote = value.includes("'") ? "`" : "'";
    return `# ${variables[name as keyof typeof variables]}\n${name}=${quote}${value}${quote}\n`;
  });
  const more = suggestions
    .filter(([name]) => !Object.hasOwn(own, name))
    .map(([name, example]) => `# ${variables[name]}\n#${name}=${example}\n`);
  const text = [
    "# Fieldgate's configuration. It holds the deployment secret: keep it readable by its owner alone, and keep a copy.\n",
    ...set,
    "# More that is often needed; `fieldgate serve --help` lists everything.\n",
    ...more,
  ].join("\n");
  const readBack = parseEnv(text);
  const lost = Object.keys(own).find((name) => readBack[name] !== own[name]);
  if (lost === undefined) return text;
  throw new CliFailure(
    `${lost} has characters that a configuration file cannot hold. Write quotes and line breaks as %XX.`,
  );
}
