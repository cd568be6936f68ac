import { createPrivateKey, randomInt, randomUUID } from "node:crypto";
import { Fault } from "../fault.ts";
import { recordEvent } from "../journal/record.ts";
import { signCard } from "../qr/sign-card.ts";
import { findBeneficiary } from "../store/beneficiaries.ts";
import type { Queries } from "../store/store.ts";
import type { KeyVault } from "../tokens/key-vault.ts";
import type { TenantCipher } from "./data-keys.ts";
import { cardSigner } from "./qr-issuers.ts";

/** A programme's own card. Its number is random: it leads to a person only through our records. */
export interface IssuedCard {
  readonly id: string;
  readonly number: string;
  /** What its QR code says. */
  readonly text: string;
  readonly fingerprint: string;
  readonly expiresAt: number;
}

export interface CardContext {
  readonly cipher: TenantCipher;
  readonly vault: KeyVault;
  readonly baseUrl: string;
  /** Milliseconds: what the card says of its beginning. */
  readonly now: number;
}

/** No I, L, O or U: nobody mistakes one letter for another, or reads a word. */
const letters = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

function cardNumber(): string {
  const group = () => Array.from({ length: 5 }, () => letters[randomInt(letters.length)]).join("");
  return [group(), group(), group(), group()].join("-");
}

export const cardNumberPlace = (row: string) => ({ table: "cards", row, column: "sealed_number" });

export async function issueCard(
  tx: Queries,
  { cipher, vault, baseUrl, now }: CardContext,
  beneficiaryId: string,
  lifeSeconds: number,
): Promise<IssuedCard> {
  const person = await findBeneficiary(tx, cipher, beneficiaryId);
  if (!person || person.disabledAt !== null) {
    throw new Fault("not_found", { message: `There is no active person with the id ${beneficiaryId}.` });
  }
  const { entry, privateKey } = await cardSigner(tx, vault, cipher.tenantId, baseUrl);
  const number = cardNumber();
  const issuedAt = Math.floor(now / 1000);
  const expiresAt = issuedAt + lifeSeconds;
  const key = createPrivateKey({ key: Buffer.from(privateKey), format: "der", type: "pkcs8" });
  const { text, fingerprint } = signCard({ iss: entry.iss, kid: entry.kid, number, issuedAt, expiresAt }, key);
  const id = randomUUID();
  await tx.db
    .insertInto("cards")
    .values({
      id,
      tenant_id: cipher.tenantId,
      beneficiary_id: beneficiaryId,
      lookup: cipher.index("card", number),
      sealed_number: cipher.seal(cardNumberPlace(id), number),
      fingerprint,
      issued_at: issuedAt * 1000,
      expires_at: expiresAt * 1000,
      revoked_at: null,
    })
    .execute();
  await recordEvent(tx, {
    tenantId: cipher.tenantId,
    type: "card.issued",
    subject: beneficiaryId,
    data: { card: id },
  });
  return { id, number, text, fingerprint, expiresAt: expiresAt * 1000 };
}

/** The person of a card that is good: neither revoked nor expired. */
export async function holderOfCard(q: Queries, cipher: TenantCipher, number: string): Promise<string | null> {
  const row = await q.db
    .selectFrom("cards")
    .select("beneficiary_id")
    .where("tenant_id", "=", cipher.tenantId)
    .where("lookup", "in", cipher.indexes("card", number))
    .where("revoked_at", "is", null)
    .where("expires_at", ">", q.now)
    .executeTakeFirst();
  return row?.beneficiary_id ?? null;
}

export async function isRevoked(q: Queries, tenantId: string, fingerprint: string): Promise<boolean> {
  const row = await q.db
    .selectFrom("revoked_cards")
    .select("fingerprint")
    .where("tenant_id", "=", tenantId)
    .where("fingerprint", "=", fingerprint)
    .executeTakeFirst();
  return row !== undefined;
}

/** Revokes a card of the programme's own by its id or number, or all of a person's; returns how many. */
export async function revokeCards(
  tx: Queries,
  cipher: TenantCipher,
  which: { readonly card?: string; readonly beneficiaryId?: string },
): Promise<number> {
  let query = tx.db
    .updateTable("cards")
    .set({ revoked_at: tx.now })
    .where("tenant_id", "=", cipher.tenantId)
    .where("revoked_at", "is", null);
  const { card, beneficiaryId } = which;
  if (beneficiaryId !== undefined) query = query.where("beneficiary_id", "=", beneficiaryId);
  if (card !== undefined) {
    const lookups = cipher.indexes("card", card.trim().toUpperCase());
    query = query.where((eb) => eb.or([eb("id", "=", card), eb("lookup", "in", lookups)]));
  }
  const revoked = await query.returning(["id", "beneficiary_id"]).execute();
  for (const row of revoked) {
    const data = { card: row.id };
    await recordEvent(tx, { tenantId: cipher.tenantId, type: "card.revoked", subject: row.beneficiary_id, data });
  }
  return revoked.length;
}

/** Refuses a card of another issuer from now on, whatever text it comes in. */
export async function revokeFingerprint(tx: Queries, tenantId: string, fingerprint: string): Promise<void> {
  await tx.db
    .insertInto("revoked_cards")
    .values({ tenant_id: tenantId, fingerprint, revoked_at: tx.now })
    .onConflict((conflict) => conflict.columns(["tenant_id", "fingerprint"]).doNothing())
    .execute();
  await recordEvent(tx, { tenantId, type: "card.revoked", data: { fingerprint } });
}
