import { randomBytes } from "node:crypto";
import type { VaultKey } from "@fieldgate/contract";
import { Fault } from "../fault.ts";
import { recordEvent } from "../journal/record.ts";
import type { Services } from "../services.ts";
import { findVaultKey, vaultKeyPlace } from "../store/vault-keys.ts";
import { opaqueId } from "../tokens/opaque-id.ts";
import type { VerifiedToken } from "../tokens/token-check.ts";

/**
 * The key under which the user's devices keep what is not yet sent: made once, and the same on every node ever after. As it never
 * changes, neither a worker who helped at one sign-in gets it, nor whoever knows an ID number and a date of birth or holds a card.
 */
export async function vaultKeyOf({ store, dataKeys }: Services, { claims }: VerifiedToken): Promise<VaultKey> {
  const { tenantId, sub: userId, sid: sessionId } = claims;
  if (claims.act !== undefined) throw new Fault("forbidden", { detail: "assisted" });
  if (claims.acr === "low") throw new Fault("forbidden", { detail: "acr low" });
  const cipher = await dataKeys.cipher(tenantId);
  const row =
    (await findVaultKey(store, tenantId, userId)) ??
    (await store.transaction(async (tx) => {
      const made = await tx.db
        .insertInto("vault_keys")
        .values({
          tenant_id: tenantId,
          user_id: userId,
          id: opaqueId(),
          sealed_key: cipher.seal(vaultKeyPlace(userId), randomBytes(32).toString("base64url")),
          created_at: tx.now,
        })
        // Whoever is first makes it; whoever comes second reads it.
        .onConflict((conflict) => conflict.columns(["tenant_id", "user_id"]).doNothing())
        .returning("id")
        .executeTakeFirst();
      if (made) {
        await recordEvent(tx, { tenantId, type: "vault_key.created", subject: userId, sessionId });
      }
      return findVaultKey(tx, tenantId, userId);
    }));
  if (!row) throw new Error("The vault key that was just made is gone.");
  return { keyId: row.id, key: cipher.open(vaultKeyPlace(userId), row.sealed_key) };
}
