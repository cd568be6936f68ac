import type { FastifyInstance } from "fastify";

const lookEveryMs = 20;

/**
 * Ends the server so that no answer is lost: first `/readyz` says 503, then nothing new is accepted and idle
 * connections close, what is in flight is finished within `grace` seconds, and whoever is still connected after that
 * is cut off. With `lead`, everything is still answered for so many seconds after `/readyz` has turned: a balancer
 * needs them to notice.
 */
export async function shutDown(app: FastifyInstance, grace: number, lead = 0): Promise<void> {
  app.gate.phase = "leaving";
  if (lead > 0) await after(lead * 1000);
  app.gate.phase = "closing";
  let open = true;
  const closed = app.close().finally(() => {
    open = false;
  });
  const deadline = performance.now() + grace * 1000;
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
