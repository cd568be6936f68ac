export { type App, type AppParts, createApp } from "./app.ts";
export { type Clock, systemClock } from "./clock.ts";
export type { Config, DatabaseConfig } from "./config/config.ts";
export { defaultPolicy, type Policy } from "./config/policy.ts";
