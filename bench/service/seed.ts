import type { Session } from "@fieldgate/contract";
import { sessionAnswer } from "../../packages/server/src/flows/session-answer.ts";
import { startWorkerSession } from "../../packages/server/src/flows/start-session.ts";
import { addTenant } from "../../packages/server/src/people/tenants.ts";
import { addWorker, type Worker } from "../../packages/server/src/people/workers.ts";
import type { Services } from "../../packages/server/src/services.ts";
import { opaqueId } from "../../packages/server/src/tokens/opaque-id.ts";
import { password, tenantId } from "./service-config.ts";

/** Adds the tenant and its workers, who all have the same password. */
export async function seedWorkers({ store, hasher }: Services, count: number): Promise<Worker[]> {
  const passwordHash = await hasher.hash(password);
  return store.transaction(async (tx) => {
    await addTenant(tx, { id: tenantId, name: "Benchmark", settings: {} }, { loopbackHttp: true });
    const workers: Worker[] = [];
    for (let number = 0; number < count; number += 1) {
      const username = `worker-${number}`;
      workers.push(await addWorker(tx, { tenantId, username, passwordHash, roles: ["field-worker"] }));
    }
    return workers;
  });
}

/** Signs each worker in as the password flow does, only without its password: bound to the key of that place, if any. */
export async function seedSessions(
  services: Services,
  workers: readonly Worker[],
  jkts: readonly (string | null)[],
): Promise<Session[]> {
  const policy = await services.tenants.policy(tenantId);
  const stored = await services.store.transaction(async (tx) => {
    const sessions = [];
    for (const [index, worker] of workers.entries()) {
      const jkt = jkts[index] ?? null;
      const session = await startWorkerSession(services, tx, {
        worker,
        provider: "password",
        amr: ["pwd"],
        acr: "substantial",
        proof: jkt === null ? null : { jkt, id: opaqueId() },
        deviceId: null,
        policy,
      });
      if (!session) throw new Error(`No session was stored for ${worker.username}.`);
      sessions.push(session);
    }
    return sessions;
  });
  return Promise.all(stored.map((session) => sessionAnswer(services, session)));
}
