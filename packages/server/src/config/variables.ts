/** Every variable that is read, with what it is for: the help of `serve` shows them, and an unknown one is refused. */
export const variables = {
  FIELDGATE_BASE_URL: "where clients reach the service: https://…",
  FIELDGATE_SECRET: "32 or more random bytes in base64 or hex; wraps every key",
  FIELDGATE_SECRET_FILE: "a file that holds the secret, instead of FIELDGATE_SECRET",
  FIELDGATE_SECRET_PREVIOUS: "the secret before `secret rotate`, until every node is restarted",
  FIELDGATE_SECRET_PREVIOUS_FILE: "a file that holds the previous secret",
  FIELDGATE_DATABASE_URL: "postgres://… or sqlite:PATH (default: a file in the data directory)",
  FIELDGATE_DATABASE_POOL: "PostgreSQL connections of one node (default 10)",
  FIELDGATE_DATA_DIR: "where files are kept (default .fieldgate beside the configuration file)",
  FIELDGATE_DELIVERY: "JSON list of the channels that codes are sent by, or @FILE that holds it",
  FIELDGATE_HOST: "the address to listen on; HOST is read too (default 127.0.0.1, with TLS 0.0.0.0)",
  FIELDGATE_PORT: "the port to listen on; PORT is read too (default 3000)",
  FIELDGATE_TLS_CERT: "a PEM file with the certificate chain, to speak TLS without a proxy",
  FIELDGATE_TLS_KEY: "a PEM file with the certificate's key",
  FIELDGATE_METRICS: "host:port of the listener for /metrics, or off (default off)",
  FIELDGATE_METRICS_TOKEN: "the Bearer token for /metrics; needed beyond this machine",
  FIELDGATE_DEFAULT_TENANT: "the tenant of requests that name none",
  FIELDGATE_CORS_ORIGINS: "exact origins of web pages that may call, comma separated",
  FIELDGATE_TRUSTED_PROXIES: "addresses or ranges of proxies whose forwarded headers are believed",
  FIELDGATE_INTERNAL_HOSTS: "hosts inside the network where tenants' identity providers may be, comma separated",
  FIELDGATE_LOG_LEVEL: "fatal, error, warn, info, debug, trace or silent (default info)",
  FIELDGATE_AUDIENCE: "the aud of access tokens (default: the base URL)",
  FIELDGATE_POLICY: 'JSON that overrides limits and lifetimes: {"password":{"minLength":20}}',
} as const;

export type Variable = keyof typeof variables | "HOST" | "PORT";

export const variableNames = Object.keys(variables) as (keyof typeof variables)[];
