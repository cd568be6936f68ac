import type { FastifyInstance } from "fastify";

const lookEveryMs = 20;

/**
 * Ends the server so that no answer is lost: `/readyz` says 503 at once, nothing new is accepted, what is in flight is
 * finished within `grace` seconds, and whoever is still connected then is cut off.
 */
export async function shutDown(app: FastifyInstance, grace: number): Promise<void> {
  app.gate.draining = true;
  const closed = app.close();
  const deadline = performance.now() + grace * 1000;
  while (app.gate.inFlight > 0 && performance.now() < deadline) await after(lookEveryMs);
  // What is open now has no request under way, or its time is over.
  app.server.closeAllConnections();
  await closed;
}

function after(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
