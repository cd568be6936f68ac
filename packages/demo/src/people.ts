import { addTenant, addWorker, findTenant, findWorker, type Services } from "@fieldgate/server";

/** Who can be tried. The demo answers on this machine alone, so its passwords may be known to everyone. */
export const demoTenant = { id: "demo", name: "Demo programme" } as const;
export const demoWorker = { username: "amina", password: "acacia-lantern-river-42", roles: ["field-worker"] } as const;

/** Makes the people of the demo, those who are not there yet. */
export async function seedPeople({ store, hasher }: Services): Promise<void> {
  const passwordHash = await hasher.hash(demoWorker.password);
  await store.transaction(async (tx) => {
    if (!(await findTenant(tx, demoTenant.id))) await addTenant(tx, demoTenant, { loopbackHttp: true });
    if (await findWorker(tx, demoTenant.id, demoWorker.username)) return;
    await addWorker(tx, { tenantId: demoTenant.id, ...demoWorker, passwordHash });
  });
}
