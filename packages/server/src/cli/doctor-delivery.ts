import type { Config } from "../config/config.ts";
import { openChannels } from "../delivery/open-channels.ts";
import { bad, type Finding, ok, warn } from "./doctor-finding.ts";

const patienceMs = 8000;

/** Each channel is connected to, with its password; no message is sent. */
export async function checkDelivery({ mode, delivery, baseUrl }: Config): Promise<Finding[]> {
  if (delivery.length === 0) {
    const sentence = "There is no channel: no code can be sent.";
    const remedy = "Set FIELDGATE_DELIVERY: docs/delivery.md shows how.";
    return [mode === "production" ? bad("delivery", sentence, remedy) : warn("delivery", sentence, remedy)];
  }
  const channels = await openChannels(delivery, { baseUrl });
  return Promise.all(
    channels.map(async (channel) => {
      try {
        await channel.verify?.(AbortSignal.timeout(patienceMs));
        return ok("delivery", `${channel.name} can be reached for ${channel.medium}.`);
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        const timedOut = error instanceof Error && error.name === "TimeoutError";
        const sentence = timedOut ? `${channel.name} did not answer within ${patienceMs / 1000} s.` : reason;
        const remedy = `See that it runs, and that the channel ${channel.name} of FIELDGATE_DELIVERY is right.`;
        return bad("delivery", sentence, remedy);
      } finally {
        await channel.close();
      }
    }),
  );
}
