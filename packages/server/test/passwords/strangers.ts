import { hash } from "@node-rs/argon2";
import { updateTenant } from "../../src/people/tenants.ts";
import { disableWorker } from "../../src/people/workers.ts";
import { goodPassword, type TestNode } from "../kit/node.ts";
import type { Guess } from "./guess.ts";

/** Everyone who does not get in; each has a name of its own, so that nobody spends another's budget. */
export async function addStrangers(node: TestNode): Promise<ReadonlyMap<string, Guess>> {
  const { store } = node.app.services;
  await node.addTenant("demo");
  await node.addTenant("closed");
  await node.addWorker({ username: "wrong-password" });
  await node.addWorker({ tenantId: "closed", username: "closed-tenant" });
  await node.addWorker({ username: "no-password" });
  await node.addWorker({ username: "weak-hash" });
  const disabled = await node.addWorker({ username: "disabled-user" });
  const weak = await hash(goodPassword, { memoryCost: 1024, timeCost: 1, parallelism: 1 });
  await store.transaction(async (tx) => {
    await disableWorker(tx, disabled);
    await updateTenant(tx, "closed", { disabled: true }, { loopbackHttp: true });
    const setHash = (username: string, password_hash: string | null) =>
      tx.db.updateTable("workers").set({ password_hash }).where("username", "=", username).execute();
    await setHash("no-password", null);
    await setHash("weak-hash", weak);
  });
  return new Map<string, Guess>([
    ["wrong password", { username: "wrong-password" }],
    ["unknown user", { username: "nobody-at-all" }],
    ["unknown tenant", { username: "unknown-tenant", tenantId: "nowhere" }],
    ["disabled user, right password", { username: "disabled-user", password: goodPassword }],
    ["disabled tenant, right password", { username: "closed-tenant", tenantId: "closed", password: goodPassword }],
    ["user without a password", { username: "no-password" }],
    ["wrong password, weaker hash", { username: "weak-hash" }],
  ]);
}
