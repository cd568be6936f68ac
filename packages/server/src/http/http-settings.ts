import type { Logger } from "pino";
import type { Config } from "../config/config.ts";
import type { Policy } from "../config/policy.ts";
import type { Metrics } from "./metrics.ts";

/** What the HTTP layer needs to know; the rest of the service is behind the handlers of its routes. */
export interface HttpSettings {
  readonly mode: Config["mode"];
  readonly baseUrl: string;
  readonly tls: Config["tls"];
  /** Addresses or CIDR ranges. With an empty list no forwarded header is believed. */
  readonly trustedProxies: readonly string[];
  /** Exact origins, such as `https://portal.example.org`. */
  readonly corsOrigins: readonly string[];
  readonly limits: Policy["http"];
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** The nonce that every answer carries; called once per answer. */
  readonly dpopNonce: () => string;
  /** Whether the service can do its work; what `/readyz` says. */
  readonly isReady: () => boolean | Promise<boolean>;
  /** Refuses to send an answer that breaks its schema. For tests: it costs a validation per answer. */
  readonly checkAnswers?: boolean;
}
