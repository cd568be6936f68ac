import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Command } from "commander";
import { type IssuedCard, issueCard, revokeCards, revokeFingerprint } from "../people/cards.ts";
import { createDataKeys, type TenantCipher } from "../people/data-keys.ts";
import type { Tenant } from "../people/tenants.ts";
import { cardSheet } from "../qr/card-sheet.ts";
import { qrPng, qrSvg } from "../qr/draw-qr.ts";
import { findBeneficiary, findByExternalId } from "../store/beneficiaries.ts";
import { chosenTenant, type TenantOption, tenantOption } from "./choose.ts";
import { CliFailure } from "./cli-failure.ts";
import { type CliContext, type Deployment, defineCommand, onRun, type Run } from "./context.ts";
import { defineGroup } from "./group.ts";
import { formatTable, formatTime, isoTime } from "./table.ts";

export function addCardCommands(program: Command, cli: CliContext): void {
  const group = defineGroup(program, "card", "issue, print and revoke the programme's QR cards");
  addCardIssueCommand(group, cli);
  addCardSheetCommand(group, cli);
  addCardRevokeCommand(group, cli);
}

interface IssueOptions extends TenantOption {
  readonly days?: string;
  readonly out?: string;
  readonly text?: true;
}

const notes = "A PERSON is an entity id or an external id. A card says nothing of its holder but a random number.";

function addCardIssueCommand(group: Command, cli: CliContext): void {
  const command = defineCommand(group, "issue <person...>", {
    summary: "issue a card to each person, as SVG and PNG",
    notes,
    examples: [
      ["fieldgate card issue --tenant kenya HH-1042", "one card, into ./cards"],
      ["fieldgate card issue --tenant kenya --days 365 --out /media/print HH-1042 HH-1043", "two, good for a year"],
    ],
  })
    .option(...tenantOption)
    .option("--days <number>", "how long the card is good for (default: the deployment's qr.cardLife)")
    .option("--out <folder>", "where the drawings go (default: ./cards)")
    .option("--text", "write what each code says beside it, for a printer or a test without a camera");
  onRun<IssueOptions>(command, cli, async (run) => {
    const { cards } = await issueCards(run, cli);
    const folder = resolve(cli.cwd, run.options.out ?? "cards");
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    for (const { number, text } of cards) {
      writeFileSync(join(folder, `${number}.svg`), qrSvg(text, `Card ${number}`), { mode: 0o600 });
      writeFileSync(join(folder, `${number}.png`), qrPng(text), { mode: 0o600 });
      if (run.options.text) writeFileSync(join(folder, `${number}.txt`), text, { mode: 0o600 });
    }
    const rows = cards.map((card) => [card.number, card.person, formatTime(card.expiresAt)]);
    const text = `${formatTable(["CARD", "PERSON", "GOOD UNTIL"], rows)}\nDrawn in ${folder}.`;
    return { json: { folder, cards: cards.map(cardAsJson) }, text };
  });
}

function addCardSheetCommand(group: Command, cli: CliContext): void {
  const command = defineCommand(group, "sheet <person...>", {
    summary: "issue a card to each person, as a sheet to print on A4 and cut",
    notes: `${notes}\nOpen the sheet in a browser and print it: eight cards a page.`,
    examples: [["fieldgate card sheet --tenant kenya --out cards.html HH-1042 HH-1043", "two cards on one sheet"]],
  })
    .option(...tenantOption)
    .option("--days <number>", "how long the cards are good for (default: the deployment's qr.cardLife)")
    .option("--out <file>", "the sheet (default: ./cards.html)");
  onRun<IssueOptions>(command, cli, async (run) => {
    const { cards, tenant } = await issueCards(run, cli);
    const file = resolve(cli.cwd, run.options.out ?? "cards.html");
    writeFileSync(file, cardSheet(tenant.name, cards), { mode: 0o600 });
    const count = cards.length === 1 ? "1 card" : `${cards.length} cards`;
    return {
      json: { file, cards: cards.map(cardAsJson) },
      text: `${count} in ${file}. Open it in a browser and print it.`,
    };
  });
}

interface NamedCard extends IssuedCard {
  readonly person: string;
}

const cardAsJson = ({ id, number, person, fingerprint, expiresAt }: NamedCard) => {
  return { id, number, person, fingerprint, expiresAt: isoTime(expiresAt) };
};

async function issueCards(
  run: Run<IssueOptions>,
  cli: CliContext,
): Promise<{ readonly cards: NamedCard[]; readonly tenant: Tenant }> {
  const { tenant, cipher, store, vault, config } = await open(run, cli);
  const lifeSeconds = run.options.days === undefined ? config.policy.qr.cardLife : days(run.options.days) * 86_400;
  const context = { cipher, vault, baseUrl: config.baseUrl, now: cli.clock.now() };
  const names = (run.args[0] ?? []) as unknown as string[];
  // All or none: a sheet with a gap is worse than a sentence.
  const cards = await store.transaction(async (tx) => {
    const issued: NamedCard[] = [];
    for (const name of names) {
      const person = (await findBeneficiary(tx, cipher, name)) ?? (await findByExternalId(tx, cipher, name));
      if (!person) throw new CliFailure(`The tenant ${tenant.id} has no person "${name}".`);
      issued.push({ ...(await issueCard(tx, context, person.id, lifeSeconds)), person: name });
    }
    return issued;
  });
  return { cards, tenant };
}

function days(text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1 || number > 7300) {
    throw new CliFailure(`--days must be a whole number from 1 to 7300: got "${text}".`, 2);
  }
  return number;
}

interface RevokeOptions extends TenantOption {
  readonly person?: string;
  readonly fingerprint?: string;
}

function addCardRevokeCommand(group: Command, cli: CliContext): void {
  const command = defineCommand(group, "revoke [card]", {
    summary: "revoke a card by its number, a person's cards, or another issuer's by its fingerprint",
    examples: [
      ["fieldgate card revoke --tenant kenya 7Q2M8-8FD0K-2M4TS-9WXYZ", "a lost card"],
      ["fieldgate card revoke --tenant kenya --person HH-1042", "every card of a person"],
      ["fieldgate card revoke --tenant kenya --fingerprint Zr1v…", "a card of another issuer"],
    ],
  })
    .option(...tenantOption)
    .option("--person <id>", "every card of this person, by entity id or external id")
    .option("--fingerprint <text>", "a card of any issuer");
  onRun<RevokeOptions>(command, cli, async (run) => {
    const [card] = run.args;
    const { person, fingerprint } = run.options;
    if ([card, person, fingerprint].filter((choice) => choice !== undefined).length !== 1) {
      throw new CliFailure("Say what to revoke: the number of a card, --person ID or --fingerprint TEXT.", 2);
    }
    const { tenant, cipher, store } = await open(run, cli);
    if (fingerprint !== undefined) {
      await store.transaction((tx) => revokeFingerprint(tx, tenant.id, fingerprint));
      return { json: { revoked: 1 }, text: "Cards with this fingerprint are refused from now on." };
    }
    const revoked = await store.transaction(async (tx) => {
      if (card !== undefined) return revokeCards(tx, cipher, { card });
      const found =
        (await findBeneficiary(tx, cipher, person ?? "")) ?? (await findByExternalId(tx, cipher, person ?? ""));
      if (!found) throw new CliFailure(`The tenant ${tenant.id} has no person "${person}".`);
      return revokeCards(tx, cipher, { beneficiaryId: found.id });
    });
    const text =
      revoked === 0 ? "There was no such card to revoke." : `Revoked ${revoked === 1 ? "1 card" : `${revoked} cards`}.`;
    return { json: { revoked }, text, exitCode: revoked === 0 ? 1 : 0 };
  });
}

async function open(
  run: Run<TenantOption>,
  cli: CliContext,
): Promise<Deployment & { readonly tenant: Tenant; readonly cipher: TenantCipher }> {
  const deployment = await run.deployment();
  const tenant = await chosenTenant(deployment, run.options);
  const cipher = await createDataKeys(deployment.store, deployment.vault, cli.clock).cipher(tenant.id);
  return { ...deployment, tenant, cipher };
}
