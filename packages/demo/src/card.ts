import { hash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  type App,
  cardSheet,
  createKeyVault,
  findByExternalId,
  issueCard,
  qrPng,
  type Services,
} from "@fieldgate/server";
import { serveLocally } from "./local-page.ts";
import { demoPeople, demoTenant } from "./people.ts";

export interface DemoCard {
  /** A sheet to print, or to hold before a camera. */
  readonly sheet: string;
  readonly picture: string;
  /** What the code says, for those without a camera. */
  readonly textFile: string;
}

const lifeSeconds = 365 * 86_400;

/** A card for one of the demo's people: issued once, then kept beside the demo's data. */
export async function demoCard({ store, dataKeys, config, clock }: Services): Promise<DemoCard> {
  const place = (name: string) => join(config.dataDir, name);
  const files = { sheet: place("demo-card.html"), picture: place("demo-card.png"), textFile: place("demo-card.txt") };
  if (!existsSync(files.textFile)) {
    const cipher = await dataKeys.cipher(demoTenant.id);
    const vault = createKeyVault(config.secret, config.previousSecret);
    const context = { cipher, vault, baseUrl: config.baseUrl, now: clock.now() };
    const card = await store.transaction(async (tx) => {
      const person = await findByExternalId(tx, cipher, demoPeople.byId.externalId);
      if (!person) throw new Error("The demo's people are not there yet.");
      return issueCard(tx, context, person.id, lifeSeconds);
    });
    writeFileSync(files.sheet, cardSheet(demoTenant.name, [card]), { mode: 0o600 });
    writeFileSync(files.picture, qrPng(card.text), { mode: 0o600 });
    writeFileSync(files.textFile, card.text, { mode: 0o600 });
  }
  return files;
}

/** Shows the card in the browser, to be held before a camera or saved as a picture. */
export function registerCard(http: App["http"], card: DemoCard): void {
  const sheet = readFileSync(card.sheet, "utf8");
  const style = /<style>([^<]*)<\/style>/.exec(sheet)?.[1] ?? "";
  const allowed = `'sha256-${hash("sha256", style, "base64")}'`;
  serveLocally(http, "/dev/card", "text/html; charset=utf-8", () => sheet, allowed);
  serveLocally(http, "/dev/card.png", "image/png", () => readFileSync(card.picture));
}
