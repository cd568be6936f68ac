export { type App, type AppParts, createApp } from "./app.ts";
export { type Clock, systemClock } from "./clock.ts";
export type { Config, DatabaseConfig } from "./config/config.ts";
export { ConfigError } from "./config/config-error.ts";
export { loadConfig } from "./config/load-config.ts";
export { defaultPolicy, type Policy } from "./config/policy.ts";
export {
  type Accepted,
  type Channel,
  ChannelBusy,
  ChannelRefused,
  type OutboundMessage,
  type Receipt,
} from "./delivery/channel.ts";
export { createLogger } from "./http/request-log.ts";
export { addBeneficiary } from "./people/beneficiaries.ts";
export type { BeneficiaryFacts } from "./people/beneficiary.ts";
export { issueCard } from "./people/cards.ts";
export { addTenant, findTenant, updateTenant } from "./people/tenants.ts";
export { addWorker, findWorker } from "./people/workers.ts";
export { cardSheet } from "./qr/card-sheet.ts";
export { qrPng, qrSvg } from "./qr/draw-qr.ts";
export type { Services } from "./services.ts";
export { findByExternalId } from "./store/beneficiaries.ts";
export { createKeyVault } from "./tokens/key-vault.ts";
