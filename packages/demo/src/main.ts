import { buildPortal } from "@fieldgate/portal/build";
import { ConfigError, createApp, createLogger, loadConfig } from "@fieldgate/server";
import { box } from "./box.ts";
import { demoCard, registerCard } from "./card.ts";
import { demoAccount } from "./identity-provider/index.ts";
import { offerProviders, startDemoProviders } from "./identity-providers.ts";
import { createInbox } from "./inbox.ts";
import { registerInbox } from "./inbox-page.ts";
import { demoPeople, demoTenant, demoWorker, seedPeople } from "./people.ts";
import { thingsToTry } from "./try-it.ts";

/** Everything on one machine, for trying: `npm start`. */
async function main(): Promise<void> {
  const config = loadConfig(
    { FIELDGATE_DEFAULT_TENANT: demoTenant.id, FIELDGATE_LOG_LEVEL: "warn", ...process.env },
    { dev: true, file: null },
  );
  const inbox = createInbox();
  const { folder } = await buildPortal();
  const app = await createApp(config, {
    logger: createLogger(config.logLevel),
    channels: inbox.channels,
    portal: { folder, demo: thingsToTry() },
  });
  await seedPeople(app.services);
  const card = await demoCard(app.services);
  registerInbox(app.http, inbox);
  registerCard(app.http, card);
  await app.listen();

  const { baseUrl } = config;
  const providers = await startDemoProviders(baseUrl);
  await offerProviders(app.services, providers);
  const { mother, father, daughter, byEmail, byId, byYear } = demoPeople;
  const [phone] = mother.phones;
  const household = [mother, father, daughter].map(({ names }) => names.given).join(", ");
  const post = (path: string, body: object) => [
    `curl -s ${baseUrl}${path} -H 'Content-Type: application/json' \\`,
    `  -d '${JSON.stringify(body)}'`,
  ];
  process.stdout.write(
    `${box("Fieldgate, the demo", [
      `Open this      ${baseUrl}`,
      `Sent codes     ${baseUrl}/dev/inbox`,
      `A card         ${baseUrl}/dev/card`,
      `The API        ${baseUrl}/docs`,
      "",
      `Tenant         ${demoTenant.id}`,
      `Field worker   ${demoWorker.username}, password ${demoWorker.password}`,
      `At a provider  ${demoAccount.username}, password ${demoAccount.password}`,
      `  oidc_a       ${providers.hosted.authority}, organization org_demo`,
      `  oidc_b       ${providers.realms.authority}, realm demo`,
      `Household      ${household}: they share ${phone}`,
      `By email       ${byEmail.names.given}, ${byEmail.emails[0]}`,
      `By ID          ${byId.names.given}, ${byId.nationalIds[0].number}, born 1975-06-30`,
      `By year        ${byYear.names.given}, ${byYear.nationalIds[0].number}, born in 1950: needs a code too`,
      `By card        ${byId.names.given}, printed on ${card.sheet}`,
      "",
      "A field worker signs in:",
      ...post("/api/users/login", { username: demoWorker.username, password: demoWorker.password }),
      "",
      "A household asks for a code, which comes to the inbox; then one of them is chosen:",
      ...post("/api/auth/otp/request", { recipient: phone }),
      ...post("/api/auth/otp/verify", { recipient: phone, code: "……" }),
      ...post("/api/auth/otp/verify", { selectionToken: "…", entityId: "…" }),
      "",
      "With an ID number and a date of birth:",
      ...post("/api/auth/id/verify", {
        idNumber: byId.nationalIds[0].number,
        dateOfBirth: "1975-06-30",
        tenantId: demoTenant.id,
      }),
      "",
      "With the card; what its code says lies beside it as text:",
      `printf '{"qrPayload":"%s"}' "$(cat ${card.textFile})" |`,
      `  curl -s ${baseUrl}/api/auth/qr/verify -H 'Content-Type: application/json' -d @-`,
      "",
      `Its data lies in ${config.dataDir}. It answers on this machine alone. Ctrl-C ends it.`,
    ])}\n`,
  );

  let stopping = false;
  const stop = () => {
    if (stopping) process.exit(130);
    stopping = true;
    Promise.all([providers.close(), app.close()]).catch(fail);
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
