import { createPublicKey, type JsonWebKey } from "node:crypto";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Command } from "commander";
import { addIssuer, endIssuer, listIssuers } from "../people/qr-issuers.ts";
import { type QrAlgorithm, qrAlgorithms } from "../qr/cose-sign1.ts";
import type { TrustEntry, TrustOptions } from "../qr/trust.ts";
import { chosenTenant, type TenantOption, tenantOption } from "./choose.ts";
import { CliFailure } from "./cli-failure.ts";
import { type CliContext, defineCommand, onRun } from "./context.ts";
import { defineGroup } from "./group.ts";
import { formatTable, formatTime, isoTime } from "./table.ts";

export function addIssuerCommands(program: Command, cli: CliContext): void {
  const group = defineGroup(program, "issuer", "whom a tenant trusts to sign QR cards");
  addIssuerAddCommand(group, cli);
  addIssuerListCommand(group, cli);
  addIssuerEndCommand(group, cli, "retire", "retired", "accept only cards that this key signed until now");
  addIssuerEndCommand(group, cli, "compromise", "compromised", "accept no card of this key any more");
}

interface AddOptions extends TenantOption {
  readonly iss: string;
  readonly key: string;
  readonly kid?: string;
  readonly alg?: string;
  readonly subject?: string;
  readonly identifies?: string;
  readonly dateOrder?: string;
  readonly maxAge?: string;
}

function addIssuerAddCommand(group: Command, cli: CliContext): void {
  const command = defineCommand(group, "add", {
    summary: "trust a key to sign cards",
    notes: "No address named on a card is ever asked for keys: get the key from the issuer by a way you trust.",
    examples: [
      ["fieldgate issuer add --tenant kenya --iss https://id.gov.example --key id-gov.jwk", "a key as JWK"],
      [
        "fieldgate issuer add --tenant kenya --iss https://id.gov.example --kid 2026 --key id-gov.pem",
        "as PEM, by name",
      ],
    ],
  })
    .option(...tenantOption)
    .requiredOption("--iss <issuer>", "the issuer exactly as its cards name it")
    .requiredOption("--key <file>", "its public key: JWK or PEM")
    .option("--kid <id>", "the name its cards give the key (default: the JWK's, or none)")
    .option("--alg <name>", `one of ${qrAlgorithms.join(", ")} (default: what the key is for)`)
    .option("--subject <place>", "where the person's number is: id (attribute 1) or sub (default: id)")
    .option("--identifies <kind>", "what that number is: national_id or external_id (default: national_id)")
    .option("--date-order <order>", "how its cards write dates: YMD, DMY or MDY (default: YMD)")
    .option("--max-age <days>", "accept cards without an end for so many days");
  onRun<AddOptions>(command, cli, async (run) => {
    const { iss } = run.options;
    const jwk = readKey(resolve(cli.cwd, run.options.key), run.options.key);
    const alg = oneOf("--alg", run.options.alg ?? algorithmOf(jwk), qrAlgorithms);
    const kid = run.options.kid ?? (typeof jwk.kid === "string" ? jwk.kid : "");
    const options = trustOptions(run.options);
    const deployment = await run.deployment();
    const tenant = await chosenTenant(deployment, run.options);
    const entry = await deployment.store.transaction((tx) =>
      addIssuer(tx, tenant.id, { iss, kid, alg, jwk, options, notBefore: null, notAfter: null }),
    );
    return { json: entryAsJson(entry), text: `The tenant ${tenant.id} trusts ${iss} (${alg}) as ${entry.id}.` };
  });
}

function readKey(path: string, shown: string): JsonWebKey & { readonly kid?: unknown } {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch {
    throw new CliFailure(`--key: ${shown} cannot be read.`, 2);
  }
  if (/"(?:d|k)"\s*:|PRIVATE KEY-----/.test(text)) {
    throw new CliFailure(
      `--key: ${shown} holds a private key, which its owner alone should have. Ask for the public half; where it was ` +
        "handed around, its owner should replace it.",
      2,
    );
  }
  try {
    if (text.trimStart().startsWith("{")) return JSON.parse(text) as JsonWebKey;
    return createPublicKey(text).export({ format: "jwk" }) as JsonWebKey;
  } catch {
    throw new CliFailure(`--key: ${shown} holds neither a JWK nor a PEM key.`, 2);
  }
}

function algorithmOf({ kty, crv }: JsonWebKey): string {
  const byKey: Readonly<Record<string, QrAlgorithm>> = {
    "OKP Ed25519": "EdDSA",
    "EC P-256": "ES256",
    "EC P-384": "ES384",
  };
  const alg = byKey[`${kty} ${crv}`];
  if (!alg) throw new CliFailure("This key serves several algorithms, or none: say which with --alg.", 2);
  return alg;
}

function trustOptions({ subject, identifies, dateOrder, maxAge }: AddOptions): TrustOptions {
  const age = maxAge === undefined ? undefined : Number(maxAge);
  if (age !== undefined && (!Number.isInteger(age) || age < 1)) {
    throw new CliFailure(`--max-age must be a whole number of days: got "${maxAge}".`, 2);
  }
  return {
    ...(subject !== undefined && { subject: oneOf("--subject", subject, ["id", "sub"]) }),
    ...(identifies !== undefined && { identifies: oneOf("--identifies", identifies, ["national_id", "external_id"]) }),
    ...(dateOrder !== undefined && { dateOrder: oneOf("--date-order", dateOrder, ["YMD", "DMY", "MDY"]) }),
    ...(age !== undefined && { maxAge: age * 86_400 }),
  };
}

function oneOf<const Choices extends readonly string[]>(
  option: string,
  text: string,
  choices: Choices,
): Choices[number] {
  const choice = choices.find((known) => known === text);
  if (choice === undefined) throw new CliFailure(`${option} must be one of ${choices.join(", ")}: got "${text}".`, 2);
  return choice;
}

function addIssuerListCommand(group: Command, cli: CliContext): void {
  const command = defineCommand(group, "list", {
    summary: "list the keys that a tenant trusts",
    examples: [["fieldgate issuer list --tenant kenya", "of a tenant"]],
  }).option(...tenantOption);
  onRun<TenantOption>(command, cli, async (run) => {
    const deployment = await run.deployment();
    const tenant = await chosenTenant(deployment, run.options);
    const entries = await listIssuers(deployment.store, tenant.id);
    const rows = entries.map((entry) => [
      entry.id,
      entry.iss,
      entry.kid || "-",
      entry.alg,
      entry.own ? `${entry.state}, our own` : entry.state,
      formatTime(entry.retiredAt),
    ]);
    const text =
      rows.length === 0 ? "No issuer is trusted." : formatTable(["ID", "ISSUER", "KID", "ALG", "STATE", "SINCE"], rows);
    return { json: entries.map(entryAsJson), text };
  });
}

function addIssuerEndCommand(
  group: Command,
  cli: CliContext,
  name: "retire" | "compromise",
  state: "retired" | "compromised",
  summary: string,
): void {
  const command = defineCommand(group, `${name} <id>`, {
    summary,
    examples: [[`fieldgate issuer ${name} --tenant kenya 1f0c…`, "a key, as `issuer list` names it"]],
  }).option(...tenantOption);
  onRun<TenantOption>(command, cli, async (run) => {
    const deployment = await run.deployment();
    const tenant = await chosenTenant(deployment, run.options);
    const entry = await deployment.store.transaction((tx) => endIssuer(tx, tenant.id, run.args[0] ?? "", state));
    return { json: entryAsJson(entry), text: `The key ${entry.id} of ${entry.iss} is ${state}.` };
  });
}

const entryAsJson = ({ id, iss, kid, alg, state, own, options, retiredAt }: TrustEntry) => {
  return { id, iss, kid, alg, state, own, options, retiredAt: isoTime(retiredAt) };
};
