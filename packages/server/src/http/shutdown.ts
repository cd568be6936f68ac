import type { FastifyInstance } from "fastify";

const lookEveryMs = 20;

export interface ShutdownTimes {
  /** Seconds in which `/readyz` already says 503 while everything is still answered: a balancer needs them to notice. */
  readonly lead?: number;
  /** Seconds in which what is in flight may finish. */
  readonly grace: number;
}

/**
 * Ends the server so that no answer is lost: first `/readyz` says 503, then nothing new is accepted and idle
 * connections close, what is in flight is finished, and whoever is still connected after that is cut off.
 */
export async function shutDown(app: FastifyInstance, times: ShutdownTimes): Promise<void> {
  app.gate.phase = "leaving";
  if (times.lead) await after(times.lead * 1000);
  app.gate.phase = "closing";
  let open = true;
  const closed = app.close().finally(() => {
    open = false;
  });
  const deadline = performance.now() + times.grace * 1000;
  while (open && app.gate.inFlight > 0 && performance.now() < deadline) {
    await after(lookEveryMs);
    app.server.closeIdleConnections();
  }
  app.server.closeAllConnections();
  await closed;
}

function after(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
