import { styleText } from "node:util";
import type { Command } from "commander";
import type { Config } from "../config/config.ts";
import { ConfigError } from "../config/config-error.ts";
import { openStore } from "../store/open-store.ts";
import { createKeyVault } from "../tokens/key-vault.ts";
import { type CliContext, defineCommand, onRun } from "./context.ts";
import { demandFile } from "./database-state.ts";
import { checkDelivery } from "./doctor-delivery.ts";
import { bad, type Finding } from "./doctor-finding.ts";
import { checkDataDir, checkTls, checkWiring } from "./doctor-machine.ts";
import { checkProviders } from "./doctor-providers.ts";
import { checkClock, checkDatabase, checkDefaultTenant, checkJournal, checkKeys } from "./doctor-store.ts";

export function addDoctorCommand(program: Command, cli: CliContext): void {
  const command = defineCommand(program, "doctor", {
    summary:
      "check configuration, database, clock, keys, disk, journal, TLS, identity providers and the channels for codes",
    notes: "Exit code 1 when anything is bad; a warning alone is 0.",
    examples: [
      ["fieldgate doctor", "what is wrong, and what to do about it"],
      ["fieldgate doctor --json", "for monitoring"],
    ],
  });
  onRun(command, cli, async (run) => {
    const findings = await examine(cli, () => run.config());
    const isBad = findings.some(({ state }) => state === "bad");
    const lines = findings.map((finding) => describe(finding, cli.stdout));
    const warnings = findings.filter(({ state }) => state === "warn").length;
    const end = isBad ? "Something is bad: see above." : warnings > 0 ? "It works; see the warnings." : "All is well.";
    return { json: { ok: !isBad, findings }, text: [...lines, "", end].join("\n"), exitCode: isBad ? 1 : 0 };
  });
}

async function examine(cli: CliContext, readConfig: () => Config): Promise<Finding[]> {
  let config: Config;
  try {
    config = readConfig();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.problems.map(({ variable, sentence }) => bad("configuration", `${variable} ${sentence}`));
  }
  const findings: Finding[] = [
    { check: "configuration", state: "ok", sentence: `It can be used, in ${config.mode}.` },
    ...checkWiring(config),
    ...checkTls(config, cli.clock.now()),
    ...checkDataDir(config),
    ...(await checkDelivery(config)),
  ];
  try {
    demandFile(config);
    const store = await openStore(config.database, cli.clock);
    try {
      const database = await checkDatabase(store);
      findings.push(...database);
      if (database.some(({ state }) => state === "bad")) return findings;
      findings.push(
        ...(await checkClock(store, cli.clock)),
        ...(await checkKeys(store, createKeyVault(config.secret, config.previousSecret), config, cli.clock)),
        ...(await checkJournal(store)),
        ...(await checkDefaultTenant(store, config)),
        ...(await checkProviders(store, config, cli.clock)),
      );
    } finally {
      await store.close();
    }
  } catch (error) {
    // Whatever the database refuses is a finding: a doctor that falls over helps nobody.
    const sentence = error instanceof Error ? error.message : String(error);
    findings.push(
      bad("database", sentence, "See that it runs, that FIELDGATE_DATABASE_URL is right, and what its user may do."),
    );
  }
  return findings;
}

const marks = { ok: ["green", "ok  "], warn: ["yellow", "warn"], bad: ["red", "BAD "] } as const;

function describe({ check, state, sentence, remedy }: Finding, stream: NodeJS.WritableStream): string {
  const [colour, word] = marks[state];
  // styleText leaves the text plain where the stream is no terminal or NO_COLOR is set.
  const line = `${styleText(colour, word, { stream })}  ${check.padEnd(13)}  ${sentence}`;
  return remedy === undefined ? line : `${line}\n${" ".repeat(21)}${remedy}`;
}
