import type { DatabaseConfig } from "../../../packages/server/src/config/config.ts";
import { signInSlot } from "../../../packages/server/src/flows/otp-slot.ts";
import { insertMany } from "../../../packages/server/src/store/bulk.ts";
import { opaqueId } from "../../../packages/server/src/tokens/opaque-id.ts";
import { otpCode } from "../../../packages/server/src/tokens/otp-code.ts";
import { answerTasks } from "../../service/answer-tasks.ts";
import { tenantId } from "../../service/service-config.ts";
import { dateOfBirthOf, idNumberOf, insertPeople, phoneOf, sealPeople } from "../people.ts";
import { type PreparedDatabase, prepareDatabase } from "../prepared-database.ts";

/** Fills the databases of both sides and knows the codes, so that neither side's process does anything but its work. */
const databases = new Map<string, PreparedDatabase & { readonly people: number }>();

function find(name: string) {
  const database = databases.get(name);
  if (!database) throw new Error(`There is no database called ${name}.`);
  return database;
}

const tenMinutes = 600_000;
const columns = [
  ...(["slot", "id", "tenant_id", "recipient", "purpose", "key_id"] as const),
  ...(["attempts", "sent_at", "expires_at", "consumed_at"] as const),
] as const;

const tasks = {
  async prepare(order: { name: string; database: DatabaseConfig; secret: Uint8Array; people: number }): Promise<void> {
    const prepared = await prepareDatabase(order.database, order.secret);
    databases.set(order.name, { ...prepared, people: order.people });
    await prepared.store.transaction((tx) => insertPeople(tx, sealPeople(prepared.cipher, 0, order.people)));
  },

  /** A fresh code for everybody, as a request and its delivery leave it; the bodies that use them. */
  async otp({ name }: { name: string }): Promise<string[]> {
    const { store, keyring, people } = find(name);
    const key = keyring.mac("otp");
    const indexKey = keyring.mac("index").secret;
    const sentAt = Date.now();
    const challenges = Array.from({ length: people }, (_, person) => {
      const phone = phoneOf(person);
      const slot = signInSlot(indexKey, tenantId, { kind: "phone", identity: phone, budget: phone });
      return { phone, ...slot, id: opaqueId() };
    });
    const rows = challenges.map(({ slot, recipient, id }) => ({
      ...{ slot, id, tenant_id: tenantId, recipient, purpose: "sign-in", key_id: key.id },
      ...{ attempts: 0, sent_at: sentAt, expires_at: sentAt + tenMinutes, consumed_at: null },
    }));
    await store.transaction(async (tx) => {
      await tx.db.deleteFrom("otp_challenges").execute();
      await insertMany(tx, "otp_challenges", columns, rows);
    });
    return challenges.map(({ phone, recipient, id }) => {
      const subject = { challengeId: id, tenantId, recipient, purpose: "sign-in" } as const;
      return JSON.stringify({ recipient: phone, code: otpCode(key.secret, subject), tenantId });
    });
  },

  /** Everybody's right number and date. */
  id({ name }: { name: string }): string[] {
    return Array.from({ length: find(name).people }, (_, person) =>
      JSON.stringify({ idNumber: idNumberOf(person), dateOfBirth: dateOfBirthOf(person), tenantId }),
    );
  },
};

export type PreparerTasks = typeof tasks;

answerTasks(tasks, async () => {
  for (const { close } of databases.values()) await close();
});
