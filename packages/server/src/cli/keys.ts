import { type Command, Option } from "commander";
import { type KeyRecord, listKeys, type RotatingPurpose, rotateKey, rotatingPurposes } from "../tokens/keys.ts";
import type { TenantOption } from "./choose.ts";
import { CliFailure } from "./cli-failure.ts";
import { type CliContext, defineCommand, onRun } from "./context.ts";
import { defineGroup } from "./group.ts";
import { runDataRotation } from "./keys-rotate-data.ts";
import { formatTable, formatTime, isoTime } from "./table.ts";

/** A shorter lead could let a token meet a node that has not seen its key yet. */
const minLeadSeconds = 5;
const maxLeadSeconds = 86_400;

export function addKeysCommands(program: Command, cli: CliContext): void {
  const group = defineGroup(program, "keys", "list and rotate the keys of tokens, journal and personal data");
  addKeysListCommand(group, cli);
  addKeysRotateCommand(group, cli);
}

function keyState(key: KeyRecord, now: number): "next" | "active" | "retired" | "expired" {
  if (key.expiresAt !== null && key.expiresAt <= now) return "expired";
  if (key.retiresAt !== null && key.retiresAt <= now) return "retired";
  return key.activeFrom > now ? "next" : "active";
}

function keyAsJson(key: KeyRecord, now: number): object {
  return {
    id: key.id,
    purpose: key.purpose,
    alg: key.alg,
    state: keyState(key, now),
    createdAt: isoTime(key.createdAt),
    activeFrom: isoTime(key.activeFrom),
    retiresAt: isoTime(key.retiresAt),
    expiresAt: isoTime(key.expiresAt),
  };
}

function addKeysListCommand(group: Command, cli: CliContext): void {
  const command = defineCommand(group, "list", {
    summary: "list the keys; their secret halves are never shown",
    examples: [["fieldgate keys list", "which key signs now, and which is next"]],
  });
  onRun(command, cli, async (run) => {
    const { store } = await run.deployment();
    const now = cli.clock.now();
    const keys = await listKeys(store);
    const rows = keys.map((key) => [
      key.purpose,
      key.alg,
      keyState(key, now),
      formatTime(key.activeFrom),
      formatTime(key.retiresAt),
      formatTime(key.expiresAt),
      key.id,
    ]);
    const header = ["PURPOSE", "ALG", "STATE", "ACTIVE FROM", "RETIRES", "EXPIRES", "ID"];
    const none = "There is no key yet. Start the service once with `fieldgate serve`.";
    return { json: keys.map((key) => keyAsJson(key, now)), text: rows.length === 0 ? none : formatTable(header, rows) };
  });
}

interface RotateOptions extends TenantOption {
  readonly purpose?: RotatingPurpose;
  readonly lead?: string;
  readonly data?: true;
}

function addKeysRotateCommand(group: Command, cli: CliContext): void {
  const command = defineCommand(group, "rotate", {
    summary: "make the next key; the present one stays valid for what it made",
    notes:
      "The service rotates by itself; use this before planned work. It does not shut out someone who has the present key:\n" +
      "what that key signs is accepted until it expires, as `fieldgate keys list` shows. The keys of a tenant's\n" +
      "personal data are rotated by this command alone: everything is re-encrypted while people sign in, and an\n" +
      "interrupted rotation goes on when the command is run again.",
    examples: [
      ["fieldgate keys rotate", "the key that signs access tokens"],
      ["fieldgate keys rotate --purpose journal --lead 60", "the key that signs the journal, in a minute"],
      ["fieldgate keys rotate --data --tenant kenya", "the keys of a tenant's personal data"],
    ],
  })
    .addOption(new Option("--purpose <purpose>", "which key (default: access)").choices(rotatingPurposes))
    .option("--data", "the keys of a tenant's personal data")
    .option("--tenant <id>", "with --data: the tenant (default: FIELDGATE_DEFAULT_TENANT)")
    .option("--lead <seconds>", "how long it is published before it is used (default: the policy's keys.lead)");
  onRun<RotateOptions>(command, cli, async (run) => {
    const { purpose = "access", lead, data, tenant } = run.options;
    if (data && (run.options.purpose ?? lead) !== undefined) {
      throw new CliFailure("--data rotates a tenant's keys: leave --purpose and --lead out.", 2);
    }
    if (data) return runDataRotation(run, cli);
    if (tenant !== undefined) throw new CliFailure("--tenant is for --data: other keys belong to the deployment.", 2);
    if (lead !== undefined && (!/^\d+$/.test(lead) || Number(lead) < minLeadSeconds || Number(lead) > maxLeadSeconds)) {
      throw new CliFailure(`--lead must be ${minLeadSeconds} to ${maxLeadSeconds} seconds: got "${lead}".`, 2);
    }
    const { store, vault, config } = await run.deployment();
    const leadSeconds = lead === undefined ? config.policy.keys.lead : Number(lead);
    const key = await rotateKey(store, vault, purpose, { leadSeconds });
    const text = `${key.id} is the next ${purpose} key. It is published now and used from ${formatTime(key.activeFrom)}.`;
    return { json: keyAsJson(key, cli.clock.now()), text };
  });
}
