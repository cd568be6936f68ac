import { existsSync, rmSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { Command } from "commander";
import type { Config } from "../config/config.ts";
import { withPathsFrom } from "../config/file-paths.ts";
import { configFileName } from "../config/load-config.ts";
import { parseConfig } from "../config/parse-config.ts";
import { addTenant } from "../people/tenants.ts";
import { checkUsername } from "../people/username.ts";
import { addWorker } from "../people/workers.ts";
import { openStore } from "../store/open-store.ts";
import type { Store } from "../store/store.ts";
import { createKeyVault } from "../tokens/key-vault.ts";
import { ensureKeys } from "../tokens/keys.ts";
import { CliFailure } from "./cli-failure.ts";
import { type CliContext, defineCommand, onRun } from "./context.ts";
import { type InitAnswers, type InitOptions, initAnswers } from "./init-answers.ts";
import { configFileText, initEnvironment } from "./init-file.ts";
import { hashPassword, passwordStdinOption, readNewPassword } from "./password-input.ts";

export function addInitCommand(program: Command, cli: CliContext): void {
  const command = defineCommand(program, "init", {
    summary: "set up a deployment: configuration, database, first tenant, first admin",
    notes:
      "It asks for what is not given. Without a terminal every option but --tenant-name and --database-url is needed;\n" +
      "of --smtp-url and --delivery-file one, or --delivery-later: `fieldgate serve` needs a way to send codes.",
    examples: [
      ["fieldgate init", "a few questions"],
      [
        "pass show admin | fieldgate init --base-url https://id.example.org --tenant kenya --admin amina --password-stdin --delivery-file channels.json",
        "without a question",
      ],
    ],
  })
    .option("--base-url <url>", "where clients will reach the service: https://…")
    .option("--database-url <url>", "postgres://… or sqlite:PATH (default: a file in the data directory)")
    .option("--tenant <id>", "the id of the first tenant, in lower case")
    .option("--tenant-name <text>", "its name, for people (default: the id)")
    .option("--admin <username>", "the username of the first admin")
    .option(...passwordStdinOption)
    .option("--smtp-url <url>", "the mail server that sends codes, where it asks for no password: smtp://host:25")
    .option("--smtp-from <address>", "the address that mails come from (default: no-reply at the host of the base URL)")
    .option(
      "--delivery-file <file>",
      "a JSON file with the channels that codes are sent by, as FIELDGATE_DELIVERY has it",
    )
    .option("--delivery-later", "set up without a channel; add FIELDGATE_DELIVERY before `fieldgate serve`")
    .option("--out <file>", "where the configuration goes", configFileName);
  onRun<InitOptions>(command, cli, async (run) => {
    const { options } = run;
    const file = resolve(cli.cwd, options.out);
    if (existsSync(file))
      throw new CliFailure(`${file} exists already and is left alone. Name another file with --out.`);
    const answers = await initAnswers(cli, options);
    const env = initEnvironment(withPathsFrom(cli.cwd, cli.env), answers);
    const config = parseConfig(env.all, { cwd: dirname(file), dev: options.dev ?? false });
    const admin = checkUsername(answers.admin);
    const tenant = { id: answers.tenant, name: answers.tenantName, settings: { adapters: [], hosts: [], policy: {} } };
    const passwordHash = await hashPassword(await readNewPassword(cli, options, { username: admin, tenant, config }));

    const store = await openStore(config.database, cli.clock);
    try {
      await demandEmpty(store);
      // First the file: a database whose secret nobody has would be lost.
      writeFileSync(file, configFileText(env.own), { flag: "wx", mode: 0o600 });
      await addFirstPeople(store, config, { ...answers, admin }, passwordHash).catch((error: unknown) => {
        rmSync(file);
        throw error;
      });
      await ensureKeys(store, createKeyVault(config.secret));
    } finally {
      await store.close();
    }
    const dev = options.dev ? " --dev" : "";
    const from = options.out === configFileName ? "" : ` --config ${options.out}`;
    return {
      json: { file, baseUrl: config.baseUrl, database: config.database.kind, tenant: tenant.id, admin },
      text: [
        `The configuration with a new secret is in ${file}. Keep a copy of it in a safe place.`,
        `The tenant ${tenant.id} has its first admin, ${admin}.`,
        "",
        ...(config.mode === "production" && config.delivery.length === 0
          ? [
              `First set FIELDGATE_DELIVERY in ${file}: without it the service does not start. See docs/delivery.md.`,
              "",
            ]
          : []),
        "Next:",
        `  fieldgate doctor${dev}${from}   checks everything`,
        `  fieldgate serve${dev}${from}    runs the service`,
      ].join("\n"),
    };
  });
}

/** Another deployment's keys could not be opened with the new secret, nor its people be told apart from ours. */
async function demandEmpty(store: Store): Promise<void> {
  await store.migrate();
  const keys = await store.db.selectFrom("keys").select("id").limit(1).execute();
  const tenants = await store.db.selectFrom("tenants").select("id").limit(1).execute();
  if (keys.length + tenants.length > 0) {
    throw new CliFailure(
      "The database holds a deployment already. Use its configuration file, or name an empty database with --database-url.",
    );
  }
}

async function addFirstPeople(store: Store, config: Config, answers: InitAnswers, passwordHash: string): Promise<void> {
  await store.transaction(async (tx) => {
    const { tenant, tenantName, admin } = answers;
    await addTenant(tx, { id: tenant, name: tenantName }, { loopbackHttp: config.mode === "development" });
    await addWorker(tx, { tenantId: tenant, username: admin, passwordHash, roles: ["admin"] });
  });
}
