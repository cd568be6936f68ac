import type { ChannelConfig } from "../config/delivery-config.ts";
import type { Channel } from "./channel.ts";

export interface ChannelParts {
  /** Where this deployment is reached: gateways post their receipts there. */
  readonly baseUrl: string;
  readonly fetch: typeof globalThis.fetch;
}

/** Opens the channels of the configuration. What a deployment does not use is not loaded. */
export async function openChannels(
  configs: readonly ChannelConfig[],
  { baseUrl, fetch = globalThis.fetch }: Partial<ChannelParts> & Pick<ChannelParts, "baseUrl">,
): Promise<Channel[]> {
  return Promise.all(configs.map((config) => openChannel(config, { baseUrl, fetch })));
}

async function openChannel(config: ChannelConfig, parts: ChannelParts): Promise<Channel> {
  switch (config.type) {
    case "smtp":
      return (await import("./smtp.ts")).createSmtpChannel(config);
    case "smpp":
      return (await import("./smpp.ts")).createSmppChannel(config);
    case "http":
      return (await import("./http-gateway.ts")).createHttpChannel(config, parts);
  }
}
