import type { ChannelConfig } from "./delivery-config.ts";
import type { Policy } from "./policy.ts";

/** Everything the service is told from outside, parsed once and frozen. Only `main` and `cli` read the environment. */
export interface Config {
  readonly mode: "production" | "development";
  /** Where clients reach the service: an origin, perhaps with a path, without a slash at its end. Also the issuer. */
  readonly baseUrl: string;
  /** The `aud` of access tokens. */
  readonly audience: string;
  readonly listen: { readonly host: string; readonly port: number };
  /** Files of the certificate and its key, where the service itself speaks TLS. */
  readonly tls: { readonly cert: string; readonly key: string } | null;
  readonly metrics: { readonly host: string; readonly port: number; readonly token: string | null } | null;
  /** At least 32 bytes: wraps every key the service keeps. */
  readonly secret: Uint8Array;
  /** The secret before the last `secret rotate`, while nodes are restarted one by one. */
  readonly previousSecret: Uint8Array | null;
  readonly database: DatabaseConfig;
  readonly dataDir: string;
  /** Ways for messages to leave, in the order to try them. In production there is at least one when it serves. */
  readonly delivery: readonly ChannelConfig[];
  readonly defaultTenant: string | null;
  readonly corsOrigins: readonly string[];
  /** Addresses or CIDR ranges whose forwarded headers are believed. */
  readonly trustedProxies: readonly string[];
  /** Hosts inside the network where identity providers of tenants may be; all others must have public addresses. */
  readonly internalHosts: readonly string[];
  readonly logLevel: "fatal" | "error" | "warn" | "info" | "debug" | "trace" | "silent";
  readonly policy: Policy;
}

export type DatabaseConfig =
  | { readonly kind: "sqlite"; readonly file: string }
  | { readonly kind: "postgres"; readonly url: string; readonly poolSize: number };
