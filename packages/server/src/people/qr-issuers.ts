import { generateKeyPairSync, type JsonWebKey, randomBytes, randomUUID } from "node:crypto";
import type { Selectable } from "kysely";
import { Fault } from "../fault.ts";
import { recordEvent } from "../journal/record.ts";
import type { QrAlgorithm } from "../qr/cose-sign1.ts";
import type { TrustEntry, TrustOptions } from "../qr/trust.ts";
import { importIssuerKey } from "../qr/verify-signature.ts";
import type { QrIssuerTable } from "../store/schema.ts";
import type { Queries } from "../store/store.ts";
import type { KeyVault } from "../tokens/key-vault.ts";

export interface NewIssuer {
  readonly iss: string;
  readonly kid: string;
  readonly alg: QrAlgorithm;
  readonly jwk: JsonWebKey;
  readonly options: TrustOptions;
  readonly notBefore: number | null;
  readonly notAfter: number | null;
}

function toEntry(row: Selectable<QrIssuerTable>): TrustEntry {
  return {
    id: row.id,
    iss: row.iss,
    kid: row.kid,
    alg: row.alg as QrAlgorithm,
    jwk: JSON.parse(row.jwk) as JsonWebKey,
    options: JSON.parse(row.options) as TrustOptions,
    state: row.state as TrustEntry["state"],
    notBefore: row.not_before,
    notAfter: row.not_after,
    retiredAt: row.retired_at,
    own: row.sealed_private !== null,
  };
}

export async function listIssuers(q: Queries, tenantId: string): Promise<TrustEntry[]> {
  const rows = await q.db
    .selectFrom("qr_issuers")
    .selectAll()
    .where("tenant_id", "=", tenantId)
    .orderBy("created_at")
    .orderBy("id")
    .execute();
  return rows.map(toEntry);
}

/** The tenants that trust an issuer: where there is exactly one, a card of it needs no other hint. */
export async function tenantsTrusting(q: Queries, iss: string): Promise<string[]> {
  const rows = await q.db
    .selectFrom("qr_issuers")
    .select("tenant_id")
    .distinct()
    .where("iss", "=", iss)
    .limit(2)
    .execute();
  return rows.map((row) => row.tenant_id);
}

/** Adds a key to a tenant's trust list. */
export async function addIssuer(tx: Queries, tenantId: string, issuer: NewIssuer): Promise<TrustEntry> {
  if (!importIssuerKey(issuer.alg, issuer.jwk)) {
    throw new Fault("invalid_request", { field: "jwk", message: `jwk is not a public key for ${issuer.alg}.` });
  }
  return insertIssuer(tx, tenantId, issuer, null);
}

async function insertIssuer(
  tx: Queries,
  tenantId: string,
  issuer: NewIssuer,
  own: { readonly id: string; readonly sealed: string } | null,
): Promise<TrustEntry> {
  const { kty, crv, x, y, n, e } = issuer.jwk;
  const row = await tx.db
    .insertInto("qr_issuers")
    .values({
      id: own?.id ?? randomUUID(),
      tenant_id: tenantId,
      iss: issuer.iss,
      kid: issuer.kid,
      alg: issuer.alg,
      jwk: JSON.stringify({ kty, crv, x, y, n, e }),
      options: JSON.stringify(issuer.options),
      state: "active",
      not_before: issuer.notBefore,
      not_after: issuer.notAfter,
      retired_at: null,
      sealed_private: own?.sealed ?? null,
      created_at: tx.now,
    })
    .onConflict((conflict) => conflict.columns(["tenant_id", "iss", "kid", "alg"]).doNothing())
    .returningAll()
    .executeTakeFirst();
  if (!row) {
    throw new Fault("invalid_request", {
      field: "kid",
      message:
        "The tenant already has a key of this issuer with this kid and algorithm. Retire it, or use another kid.",
    });
  }
  await recordEvent(tx, { tenantId, type: "issuer.added", data: { issuer: row.id, alg: row.alg } });
  return toEntry(row);
}

/** Retired keys verify what they signed before; compromised ones nothing. There is no way back. */
export async function endIssuer(
  tx: Queries,
  tenantId: string,
  id: string,
  state: "retired" | "compromised",
): Promise<TrustEntry> {
  const row = await tx.db
    .updateTable("qr_issuers")
    .set({ state, retired_at: tx.now })
    .where("tenant_id", "=", tenantId)
    .where("id", "=", id)
    .where("state", "!=", "compromised")
    .returningAll()
    .executeTakeFirst();
  if (!row) throw new Fault("not_found", { message: `The tenant ${tenantId} has no such key to end: ${id}.` });
  await recordEvent(tx, { tenantId, type: "issuer.changed", data: { issuer: id, state } });
  return toEntry(row);
}

const privatePurpose = "card-issuer";

/** The `iss` of a tenant's own cards. */
export function ownIssuer(baseUrl: string, tenantId: string): string {
  return `${baseUrl}/tenants/${tenantId}`;
}

export interface CardSigner {
  readonly entry: TrustEntry;
  /** PKCS #8. */
  readonly privateKey: Uint8Array;
}

/** The key that signs a tenant's own cards, made when the first card is issued. */
export async function cardSigner(tx: Queries, vault: KeyVault, tenantId: string, baseUrl: string): Promise<CardSigner> {
  const row = await tx.db
    .selectFrom("qr_issuers")
    .selectAll()
    .where("tenant_id", "=", tenantId)
    .where("sealed_private", "is not", null)
    .where("state", "=", "active")
    .orderBy("created_at", "desc")
    .executeTakeFirst();
  if (row?.sealed_private) {
    return { entry: toEntry(row), privateKey: vault.open(row.id, privatePurpose, row.sealed_private) };
  }
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const pkcs8 = privateKey.export({ format: "der", type: "pkcs8" });
  const id = randomUUID();
  const entry = await insertIssuer(
    tx,
    tenantId,
    {
      iss: ownIssuer(baseUrl, tenantId),
      kid: randomBytes(6).toString("base64url"),
      alg: "EdDSA",
      jwk: publicKey.export({ format: "jwk" }) as JsonWebKey,
      options: {},
      notBefore: null,
      notAfter: null,
    },
    { id, sealed: vault.seal(id, privatePurpose, pkcs8) },
  );
  return { entry, privateKey: pkcs8 };
}

/** Seals the private halves anew under another secret. */
export async function rewrapIssuers(tx: Queries, from: KeyVault, to: KeyVault): Promise<number> {
  const rows = await tx.db
    .selectFrom("qr_issuers")
    .select(["id", "sealed_private"])
    .where("sealed_private", "is not", null)
    .execute();
  for (const { id, sealed_private: sealed } of rows) {
    const next = to.seal(id, privatePurpose, from.open(id, privatePurpose, sealed ?? ""));
    await tx.db.updateTable("qr_issuers").set({ sealed_private: next }).where("id", "=", id).execute();
  }
  return rows.length;
}
