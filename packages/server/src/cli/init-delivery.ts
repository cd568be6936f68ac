import { resolve } from "node:path";
import { CliFailure } from "./cli-failure.ts";
import type { CliContext } from "./context.ts";
import type { InitOptions } from "./init-answers.ts";
import { ask, askHidden, canAsk } from "./prompt.ts";

type Environment = CliContext["env"];

export function deliveryIsGiven(env: Environment, options: InitOptions): boolean {
  const { smtpUrl, deliveryFile, deliveryLater = false } = options;
  return (
    deliveryLater || smtpUrl !== undefined || deliveryFile !== undefined || Boolean(env.FIELDGATE_DELIVERY?.trim())
  );
}

/** The value of `FIELDGATE_DELIVERY`, from the options or from whoever sits at the terminal; empty where it comes later. */
export async function initDelivery(cli: CliContext, options: InitOptions, baseUrl: string): Promise<string> {
  const { smtpUrl, smtpFrom, deliveryFile } = options;
  if (smtpUrl !== undefined && deliveryFile !== undefined) {
    throw new CliFailure("Choose one of --smtp-url and --delivery-file.", 2);
  }
  if (deliveryFile !== undefined) return `@${resolve(cli.cwd, deliveryFile)}`;
  if (smtpUrl !== undefined) {
    if (URL.parse(smtpUrl)?.password) {
      throw new CliFailure(
        "A password in --smtp-url is seen by everyone who lists processes. Put the channel in a file: --delivery-file.",
        2,
      );
    }
    return smtpChannel(smtpUrl, smtpFrom ?? senderAt(baseUrl));
  }
  if (deliveryIsGiven(cli.env, options) || options.dev || !canAsk(cli) || options.passwordStdin) return "";
  return askForMailServer(cli, baseUrl);
}

async function askForMailServer(cli: CliContext, baseUrl: string): Promise<string> {
  const text = await ask(
    cli,
    "Mail server that sends codes, smtp://user@host:587 (empty: set FIELDGATE_DELIVERY later)",
  );
  const url = URL.parse(text);
  if (!url) return "";
  if (url.username && !url.password) {
    url.password = encodeURIComponent(await askHidden(cli, `Password of ${url.username} there (it is not shown)`));
  }
  return smtpChannel(url.href, await ask(cli, "Address that mails come from", senderAt(baseUrl)));
}

const smtpChannel = (url: string, from: string) => JSON.stringify([{ type: "smtp", url, from }]);

const senderAt = (baseUrl: string) => `no-reply@${URL.parse(baseUrl)?.hostname ?? "localhost"}`;
