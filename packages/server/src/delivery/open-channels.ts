import type { ChannelConfig } from "../config/delivery-config.ts";
import type { Channel } from "./channel.ts";

/** Opens the channels of the configuration. What a deployment does not use is not loaded. */
export async function openChannels(
  configs: readonly ChannelConfig[],
  fetch: typeof globalThis.fetch = globalThis.fetch,
): Promise<Channel[]> {
  return Promise.all(configs.map((config) => openChannel(config, fetch)));
}

async function openChannel(config: ChannelConfig, fetch: typeof globalThis.fetch): Promise<Channel> {
  switch (config.type) {
    case "smtp":
      return (await import("./smtp.ts")).createSmtpChannel(config);
    case "smpp":
      return (await import("./smpp.ts")).createSmppChannel(config);
    case "http":
      return (await import("./http-gateway.ts")).createHttpChannel(config, fetch);
  }
}
