import { availableParallelism } from "node:os";
import { ConfigError, createApp, createLogger, loadConfig } from "@fieldgate/server";
import { box } from "./box.ts";
import { demoTenant, demoWorker, seedPeople } from "./people.ts";

// Node reads this when its thread pool is first used: password checks must not take every thread from the rest.
process.env.UV_THREADPOOL_SIZE ??= String(Math.max(4, availableParallelism() + 2));

/** Everything on one machine, for trying: `npm start`. */
async function main(): Promise<void> {
  const config = loadConfig(
    { FIELDGATE_DEFAULT_TENANT: demoTenant.id, FIELDGATE_LOG_LEVEL: "warn", ...process.env },
    { dev: true, file: null },
  );
  const app = await createApp(config, { logger: createLogger(config.logLevel) });
  await seedPeople(app.services);
  await app.listen();

  const { baseUrl } = config;
  process.stdout.write(
    `${box("Fieldgate, the demo", [
      `The service    ${baseUrl}`,
      `Its API        ${baseUrl}/docs`,
      "",
      `Tenant         ${demoTenant.id}`,
      `Field worker   ${demoWorker.username}`,
      `Password       ${demoWorker.password}`,
      "",
      "Try it:",
      `curl -s ${baseUrl}/api/users/login -H 'Content-Type: application/json' \\`,
      `  -d '{"username":"${demoWorker.username}","password":"${demoWorker.password}"}'`,
      "",
      `Its data lies in ${config.dataDir}. It answers on this machine alone. Ctrl-C ends it.`,
    ])}\n`,
  );

  let stopping = false;
  const stop = () => {
    if (stopping) process.exit(130);
    stopping = true;
    app.close().catch(fail);
  };
  process.on("SIGINT", stop);
  process.on("SIGTERM", stop);
}

function fail(error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  const inUse = error instanceof Error && "code" in error && error.code === "EADDRINUSE";
  process.stderr.write(`${inUse ? `${message}\nChoose another port: PORT=3001 npm start` : message}\n`);
  if (!inUse && !(error instanceof ConfigError) && error instanceof Error) process.stderr.write(`${error.stack}\n`);
  process.exitCode = 1;
}

main().catch(fail);
