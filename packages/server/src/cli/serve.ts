import { existsSync } from "node:fs";
import type { Command } from "commander";
import { hostInUrl } from "../config/address.ts";
import type { Config } from "../config/config.ts";
import { variables } from "../config/variables.ts";
import { findTenant } from "../people/tenants.ts";
import type { Store } from "../store/store.ts";
import { CliFailure } from "./cli-failure.ts";
import { type CliContext, defineCommand, onRun } from "./context.ts";
import { checkTls, checkWiring } from "./doctor-machine.ts";
import { readTlsFiles } from "./tls-files.ts";

const variableList = Object.entries(variables).map(([name, purpose]) => `  ${name.padEnd(31)} ${purpose}`);

export function addServeCommand(program: Command, cli: CliContext): void {
  const command = defineCommand(program, "serve", {
    summary: "run the service",
    notes:
      "It answers until SIGTERM or SIGINT, then finishes what is in flight; a second signal ends it at once.\n\n" +
      `Settings come from the environment, then from ./fieldgate.env:\n${variableList.join("\n")}`,
    examples: [
      ["fieldgate serve", "production rules, as fieldgate.env says"],
      ["fieldgate serve --dev", "on this machine alone, over http, with a secret of its own"],
    ],
  });
  onRun(command, cli, async (run) => {
    const config = run.config();
    demandTls(config);
    demandDatabase(config);
    for (const { state, sentence, remedy } of [...checkWiring(config), ...checkTls(config, cli.clock.now())]) {
      if (state !== "ok") run.note(`warning: ${sentence} ${remedy}`);
    }
    // Only this command needs the web server, so only it pays for loading it.
    const { createApp } = await import("../app.ts");
    const app = await createApp(config).catch((error: unknown) => {
      throw startFailure(error, config);
    });
    try {
      await demandDefaultTenant(app.services.store, config);
    } catch (error) {
      await app.close();
      throw error;
    }
    let address: { readonly url: string; readonly metricsUrl: string | null };
    try {
      address = await app.listen();
    } catch (error) {
      await app.close();
      throw startFailure(error, config);
    }

    let stopping = false;
    cli.onStopSignal((signal) => {
      if (stopping) return cli.exit(signal === "SIGINT" ? 130 : 143);
      stopping = true;
      app.close().then(
        () => {
          run.note(`Fieldgate has stopped, as ${signal} asked.`);
          cli.exit(0);
        },
        (error: unknown) => {
          run.note(`error: The shutdown did not finish: ${error instanceof Error ? error.message : String(error)}`);
          cli.exit(1);
        },
      );
    });

    const { metricsUrl } = address;
    const scheme = config.tls ? "https" : "http";
    const { port } = new URL(address.url);
    const also = metricsUrl === null ? "" : `, metrics at ${metricsUrl}`;
    const how = config.mode === "development" ? " in development, for this machine only" : "";
    const where = `${scheme}://${hostInUrl(config.listen.host)}${port && `:${port}`}`;
    return {
      json: { url: address.url.replace(/^https?/, scheme), baseUrl: config.baseUrl, metricsUrl, mode: config.mode },
      text: `Fieldgate serves ${config.baseUrl} and listens on ${where}${how}${also}.`,
    };
  });
}

function demandTls({ tls }: Config): void {
  const verdict = tls && readTlsFiles(tls);
  if (verdict && "problem" in verdict) throw new CliFailure(`${verdict.problem} ${verdict.remedy}`, 2);
}

const databaseName = ({ database }: Config) =>
  database.kind === "sqlite" ? database.file : `the PostgreSQL database ${URL.parse(database.url)?.pathname.slice(1)}`;

/** A default tenant tells of a deployment that was set up: an empty database in its place would be a wrong path. */
function demandDatabase(config: Config): void {
  const { database, defaultTenant, mode } = config;
  if (defaultTenant === null || database.kind !== "sqlite" || existsSync(database.file)) return;
  throw new CliFailure(
    `There is no database at ${database.file}, so no tenant ${defaultTenant} (FIELDGATE_DEFAULT_TENANT) either. Set ` +
      "FIELDGATE_DATA_DIR or FIELDGATE_DATABASE_URL to where it is, or make one with `fieldgate init" +
      `${mode === "development" ? " --dev" : ""}\`.`,
  );
}

async function demandDefaultTenant(store: Store, config: Config): Promise<void> {
  const { defaultTenant } = config;
  if (defaultTenant === null || (await findTenant(store, defaultTenant))) return;
  throw new CliFailure(
    `FIELDGATE_DEFAULT_TENANT is ${defaultTenant}, and ${databaseName(config)} has no such tenant. See that this is ` +
      `the right database; add the tenant with \`fieldgate tenant add ${defaultTenant}\`, or change the variable.`,
  );
}

/** What the operating system says, with what to do about it. */
function startFailure(error: unknown, config: Config): unknown {
  if (!(error instanceof Error) || !("code" in error)) return error;
  const asked = "port" in error ? `${"address" in error ? error.address : config.listen.host}:${error.port}` : "";
  switch (error.code) {
    case "EADDRINUSE":
      return new CliFailure(
        `${asked} is in use. Stop what uses it, or set FIELDGATE_PORT (and FIELDGATE_METRICS) to others.`,
      );
    case "EACCES":
      if (asked !== "")
        return new CliFailure(`${asked} may not be used by this user. Set FIELDGATE_PORT to 1024 or above.`);
      return error;
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return new CliFailure(`This machine has no address ${config.listen.host}. Set FIELDGATE_HOST to one it has.`);
    default:
      return error;
  }
}
