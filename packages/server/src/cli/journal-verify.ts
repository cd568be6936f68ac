import { existsSync, readFileSync } from "node:fs";
import type { Command } from "commander";
import type { Config } from "../config/config.ts";
import { checkpointFile } from "../journal/checkpoint-file.ts";
import type { GivenKey } from "../journal/key-trust.ts";
import { readPublicKeys } from "../journal/public-key-file.ts";
import { type Verification, verifyJournal } from "../journal/verify.ts";
import { UnverifiableExport, verifyExport } from "../journal/verify-export.ts";
import { CliFailure } from "./cli-failure.ts";
import { type CliContext, defineCommand, onRun, type Run } from "./context.ts";
import { collect } from "./group.ts";
import { demandInputFile } from "./input-file.ts";
import { formatTable } from "./table.ts";

interface VerifyOptions {
  readonly tenant?: string;
  readonly head?: readonly string[];
  readonly publicKey?: readonly string[];
  readonly export?: string;
}

export function addJournalVerifyCommand(group: Command, cli: CliContext): void {
  const command = defineCommand(group, "verify", {
    summary: "prove that no event was changed, removed or added",
    notes:
      "Exit code 0 means that nothing was found, 1 that something was. It may run beside the service.\n" +
      "Only checkpoints that were kept outside the database can show that the newest events were cut off. Without --head\n" +
      "this node's own DATA_DIR/journal/checkpoints.ndjson is used, where it is there. Whoever can write to this machine\n" +
      "can change it: keep copies of it from every node, or the service's log, elsewhere and give them with --head.",
    examples: [
      ["fieldgate journal verify", "the whole journal"],
      ["fieldgate journal verify --head /mnt/elsewhere/checkpoints.ndjson", "also that its end is there"],
      ["fieldgate journal verify --export kenya.ndjson --public-key journal.pem", "an export, without a database"],
    ],
  })
    .option("--tenant <id>", "only this tenant's journal")
    .option(
      "--head <file>",
      "checkpoints that were kept elsewhere: a copy of the file, of a log, or one (repeatable)",
      collect,
    )
    .option("--public-key <file>", "a journal key that was kept elsewhere: PEM or JWK (repeatable)", collect)
    .option("--export <file>", "verify an export instead of the database");
  onRun<VerifyOptions>(command, cli, async (run) => {
    const { options } = run;
    if (options.export !== undefined && options.tenant !== undefined) {
      throw new CliFailure("--tenant does not go with --export: an export is verified as a whole.", 2);
    }
    const named = (options.head ?? []).map((name) => demandInputFile(cli, name));
    const headFiles = named.length > 0 || options.export !== undefined ? named : ownCheckpoints(run.config());
    const publicKeys = (options.publicKey ?? []).flatMap((name) => demandKeys(demandInputFile(cli, name)));
    const result =
      options.export === undefined
        ? await verifyHere(run, options.tenant, headFiles, publicKeys)
        : await verifyFile(demandInputFile(cli, options.export), headFiles, publicKeys);
    return {
      json: { ...asJson(result), headFiles },
      text: asText(result, headFiles, options.export === undefined ? "database" : "export"),
      exitCode: result.ok ? 0 : 1,
    };
  });
}

/** What this node has signed; a restore puts it aside. */
function ownCheckpoints({ dataDir }: Config): readonly string[] {
  const file = checkpointFile(dataDir);
  return existsSync(file) ? [file] : [];
}

function demandKeys(path: string): readonly GivenKey[] {
  const keys = readPublicKeys(readFileSync(path, "utf8"));
  if (!keys) throw new CliFailure(`${path} holds no Ed25519 public key. Give PEM, a JWK or a JWK set.`, 2);
  return keys;
}

async function verifyHere(
  run: Run<VerifyOptions>,
  tenantId: string | undefined,
  headFiles: readonly string[],
  publicKeys: readonly GivenKey[],
): Promise<Verification> {
  const { store, vault, config } = await run.deployment();
  const checkpointSeconds = config.policy.journal.checkpoint;
  return store.snapshot(async (q) => {
    const result = await verifyJournal(q, { vault, tenantId, headFiles, publicKeys, checkpointSeconds });
    if (tenantId !== undefined && result.tenants === 0 && result.findings.errors === 0) {
      throw new CliFailure(
        `There is no journal of a tenant "${tenantId}". \`fieldgate tenant list\` shows all tenants.`,
      );
    }
    return result;
  });
}

async function verifyFile(
  path: string,
  headFiles: readonly string[],
  publicKeys: readonly GivenKey[],
): Promise<Verification> {
  try {
    return await verifyExport(path, { headFiles, publicKeys });
  } catch (error) {
    throw error instanceof UnverifiableExport ? new CliFailure(error.message) : error;
  }
}

function asJson({ findings, ...result }: Verification): object {
  const { shown, errors, warnings } = findings;
  return { ...result, errors, warnings, findings: shown };
}

const count = (number: number, noun: string) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;

function asText(result: Verification, headFiles: readonly string[], source: "database" | "export"): string {
  const { shown, errors, warnings } = result.findings;
  const scope = `${count(result.events, "event")} in ${count(result.tenants, "journal")}, ${count(result.checkpoints, "checkpoint")}`;
  const rows = shown.map(({ severity, tenantId, seq, message }) => [
    severity,
    tenantId ?? "-",
    seq === null ? "-" : String(seq),
    message,
  ]);
  const limit = headFiles.length > 0 ? "" : ` as far as the ${source} itself can tell`;
  const left = errors + warnings - shown.length;
  return [
    ...(rows.length > 0 ? [formatTable(["", "TENANT", "EVENT", "FOUND"], rows), ""] : []),
    ...(left > 0 ? [`… and ${left.toLocaleString("en")} more.`, ""] : []),
    ...headFiles.map((file) => `checkpoints  ${file}`),
    ...result.checked.map((sentence) => `checked      ${sentence}`),
    ...result.notChecked.map((sentence) => `not checked  ${sentence}`),
    "",
    result.ok
      ? `The journal is whole${limit}: ${scope}.`
      : `The journal is not whole: ${count(errors, "error")} in ${scope}.`,
  ].join("\n");
}
