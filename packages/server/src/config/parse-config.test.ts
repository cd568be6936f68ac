import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { ConfigError } from "./config-error.ts";
import { parseConfig } from "./parse-config.ts";
import { defaultPolicy } from "./policy.ts";
import type { Environment } from "./variable-reader.ts";

const secret = randomBytes(32).toString("base64");
const base = { FIELDGATE_BASE_URL: "https://id.example.org", FIELDGATE_SECRET: secret };
const options = { cwd: "/srv/fieldgate" };

function problems(env: Environment, more: Parameters<typeof parseConfig>[1] = {}): Record<string, string> {
  try {
    parseConfig(env, { ...options, ...more });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    for (const { variable, sentence } of error.problems) {
      expect(error.message).toContain(`${variable}: ${sentence}`);
      expect(sentence).toMatch(/\.$/);
    }
    return Object.fromEntries(error.problems.map(({ variable, sentence }) => [variable, sentence]));
  }
  throw new Error("The configuration was accepted.");
}

describe("a production configuration", () => {
  it("needs only a base URL and a secret", () => {
    expect(parseConfig(base, options)).toEqual({
      mode: "production",
      baseUrl: "https://id.example.org",
      audience: "https://id.example.org",
      listen: { host: "127.0.0.1", port: 3000 },
      tls: null,
      metrics: null,
      secret: Buffer.from(secret, "base64"),
      previousSecret: null,
      database: { kind: "sqlite", file: "/srv/fieldgate/.fieldgate/fieldgate.db" },
      dataDir: "/srv/fieldgate/.fieldgate",
      delivery: [],
      defaultTenant: null,
      corsOrigins: [],
      trustedProxies: [],
      internalHosts: [],
      logLevel: "info",
      policy: defaultPolicy,
    });
  });

  it("takes every variable", () => {
    const previous = randomBytes(40);
    const config = parseConfig(
      {
        ...base,
        FIELDGATE_BASE_URL: "https://ID.example.org:8443/auth/",
        FIELDGATE_SECRET_PREVIOUS: previous.toString("hex"),
        FIELDGATE_DATABASE_URL: "postgresql://u:p@db.internal/fieldgate?sslmode=verify-full",
        FIELDGATE_DATABASE_POOL: "20",
        FIELDGATE_DATA_DIR: "/var/lib/fieldgate",
        FIELDGATE_HOST: "[::]",
        FIELDGATE_PORT: "8443",
        HOST: "10.0.0.1",
        PORT: "1",
        FIELDGATE_TLS_CERT: "tls/cert.pem",
        FIELDGATE_TLS_KEY: "/etc/key.pem",
        FIELDGATE_METRICS: "0.0.0.0:9464",
        FIELDGATE_METRICS_TOKEN: "sixteen-or-more-characters",
        FIELDGATE_DELIVERY: '[{"type":"smtp","url":"smtps://mail.example.org","from":"a@example.org"}]',
        FIELDGATE_DEFAULT_TENANT: "demo",
        FIELDGATE_CORS_ORIGINS: "https://app.example.org, https://two.example.org:444,https://app.example.org/",
        FIELDGATE_TRUSTED_PROXIES: "10.0.0.7, 10.1.0.0/16,fd00::/8",
        FIELDGATE_LOG_LEVEL: "warn",
        FIELDGATE_AUDIENCE: "field-apps",
        FIELDGATE_POLICY: '{"sessions":{"allowPlain":false,"bound":{"idle":86400}},"dpopNonce":60}',
        UNRELATED: "x",
      },
      options,
    );
    expect(config).toMatchObject({
      baseUrl: "https://id.example.org:8443/auth",
      audience: "field-apps",
      listen: { host: "::", port: 8443 },
      tls: { cert: "/srv/fieldgate/tls/cert.pem", key: "/etc/key.pem" },
      metrics: { host: "0.0.0.0", port: 9464, token: "sixteen-or-more-characters" },
      previousSecret: previous,
      database: { kind: "postgres", poolSize: 20 },
      dataDir: "/var/lib/fieldgate",
      delivery: [{ type: "smtp", host: "mail.example.org", port: 465, tls: "implicit" }],
      defaultTenant: "demo",
      corsOrigins: ["https://app.example.org", "https://two.example.org:444"],
      trustedProxies: ["10.0.0.7", "10.1.0.0/16", "fd00::/8"],
      logLevel: "warn",
    });
    expect(config.policy).toEqual({
      ...defaultPolicy,
      dpopNonce: 60,
      sessions: {
        ...defaultPolicy.sessions,
        allowPlain: false,
        bound: { ...defaultPolicy.sessions.bound, idle: 86_400 },
      },
    });
  });

  it("is frozen through and through", () => {
    const config = parseConfig(base, options);
    expect(() => Object.assign(config, { baseUrl: "x" })).toThrow(TypeError);
    expect(() => Object.assign(config.policy.sessions.bound, { idle: 1 })).toThrow(TypeError);
    expect(() => Object.assign(config.listen, { port: 1 })).toThrow(TypeError);
  });

  it("takes an empty variable for an absent one", () => {
    const config = parseConfig({ ...base, FIELDGATE_DEFAULT_TENANT: "", FIELDGATE_METRICS: "  " }, options);
    expect(config).toMatchObject({ defaultTenant: null, metrics: null });
  });

  it("reads the secret from a file", () => {
    const readFile = (path: string) => {
      if (path !== "/run/secret") throw Object.assign(new Error("no"), { code: "ENOENT" });
      return `${secret}\n`;
    };
    const env = { FIELDGATE_BASE_URL: base.FIELDGATE_BASE_URL };
    const config = parseConfig({ ...env, FIELDGATE_SECRET_FILE: "/run/secret" }, { ...options, readFile });
    expect(config.secret).toEqual(Buffer.from(secret, "base64"));
    expect(problems({ ...env, FIELDGATE_SECRET_FILE: "/run/other" }, { readFile })).toEqual({
      FIELDGATE_SECRET_FILE: "names /run/other, which cannot be read (ENOENT).",
    });
    expect(Object.keys(problems({ ...base, FIELDGATE_SECRET_FILE: "/run/secret" }, { readFile }))).toEqual([
      "FIELDGATE_SECRET_FILE",
    ]);
  });

  it.each([
    ["sqlite:data/x.db", "/srv/fieldgate/data/x.db"],
    ["sqlite:/data/x.db", "/data/x.db"],
    ["sqlite:///data/x.db", "/data/x.db"],
  ])("takes %s for a file", (url, file) => {
    const { database } = parseConfig({ ...base, FIELDGATE_DATABASE_URL: url }, options);
    expect(database).toEqual({ kind: "sqlite", file });
  });
});

describe("a bad configuration is refused", () => {
  it("with every bad variable at once", () => {
    const told = problems({ FIELDGATE_PORT: "x", FIELDGATE_LOG_LEVEL: "loud", FIELDGATE_METRICS: "nowhere" });
    expect(Object.keys(told).sort()).toEqual([
      "FIELDGATE_BASE_URL",
      "FIELDGATE_LOG_LEVEL",
      "FIELDGATE_METRICS",
      "FIELDGATE_PORT",
      "FIELDGATE_SECRET",
    ]);
  });

  it.each<[string, Environment, string, string]>([
    ["http", { FIELDGATE_BASE_URL: "http://id.example.org" }, "FIELDGATE_BASE_URL", "https://"],
    ["http on this machine", { FIELDGATE_BASE_URL: "http://localhost:3000" }, "FIELDGATE_BASE_URL", "https://"],
    ["no URL", { FIELDGATE_BASE_URL: "id.example.org" }, "FIELDGATE_BASE_URL", "URL"],
    ["another scheme", { FIELDGATE_BASE_URL: "ftp://id.example.org" }, "FIELDGATE_BASE_URL", "URL"],
    ["a query", { FIELDGATE_BASE_URL: "https://id.example.org/?a=1" }, "FIELDGATE_BASE_URL", "query"],
    ["a user", { FIELDGATE_BASE_URL: "https://me@id.example.org/" }, "FIELDGATE_BASE_URL", "user"],
    ["a short secret", { FIELDGATE_SECRET: randomBytes(16).toString("base64") }, "FIELDGATE_SECRET", "16 bytes"],
    ["a default secret", { FIELDGATE_SECRET: "changeme" }, "FIELDGATE_SECRET", "placeholder"],
    ["the same secret twice", { FIELDGATE_SECRET_PREVIOUS: secret }, "FIELDGATE_SECRET_PREVIOUS", "same"],
    ["a short previous secret", { FIELDGATE_SECRET_PREVIOUS: "abc" }, "FIELDGATE_SECRET_PREVIOUS", "base64"],
    ["another database", { FIELDGATE_DATABASE_URL: "mysql://x" }, "FIELDGATE_DATABASE_URL", "postgres://"],
    ["memory", { FIELDGATE_DATABASE_URL: "sqlite::memory:" }, "FIELDGATE_DATABASE_URL", "file"],
    ["a broken address", { FIELDGATE_DATABASE_URL: "postgres://u:p@[x/db" }, "FIELDGATE_DATABASE_URL", "%-encoding"],
    ["a pool of none", { FIELDGATE_DATABASE_POOL: "0" }, "FIELDGATE_DATABASE_POOL", "from 1"],
    ["a port too high", { PORT: "65536" }, "PORT", "65535"],
    ["a negative port", { FIELDGATE_PORT: "-1" }, "FIELDGATE_PORT", "whole number"],
    ["a host that is a URL", { FIELDGATE_HOST: "http://x" }, "FIELDGATE_HOST", "address"],
    ["a certificate alone", { FIELDGATE_TLS_CERT: "a.pem" }, "FIELDGATE_TLS_KEY", "missing"],
    ["a key alone", { FIELDGATE_TLS_KEY: "a.pem" }, "FIELDGATE_TLS_CERT", "missing"],
    ["metrics without a port", { FIELDGATE_METRICS: "localhost" }, "FIELDGATE_METRICS", "host:port"],
    ["open metrics", { FIELDGATE_METRICS: "0.0.0.0:9464" }, "FIELDGATE_METRICS_TOKEN", "other machines"],
    ["a short token", { FIELDGATE_METRICS_TOKEN: "short" }, "FIELDGATE_METRICS_TOKEN", "16 characters"],
    ["a tenant in upper case", { FIELDGATE_DEFAULT_TENANT: "Demo" }, "FIELDGATE_DEFAULT_TENANT", "lower case"],
    ["every origin", { FIELDGATE_CORS_ORIGINS: "*" }, "FIELDGATE_CORS_ORIGINS", "exact origins"],
    [
      "an origin with a path",
      { FIELDGATE_CORS_ORIGINS: "https://a.org/x" },
      "FIELDGATE_CORS_ORIGINS",
      "without a path",
    ],
    ["an http origin", { FIELDGATE_CORS_ORIGINS: "http://a.org" }, "FIELDGATE_CORS_ORIGINS", "https://"],
    ["a proxy by name", { FIELDGATE_TRUSTED_PROXIES: "10.0.0.1,proxy" }, "FIELDGATE_TRUSTED_PROXIES", '"proxy"'],
    ["every address", { FIELDGATE_TRUSTED_PROXIES: "0.0.0.0/0" }, "FIELDGATE_TRUSTED_PROXIES", "ranges"],
    ["too many bits", { FIELDGATE_TRUSTED_PROXIES: "10.0.0.0/33" }, "FIELDGATE_TRUSTED_PROXIES", "ranges"],
    ["a level that is none", { FIELDGATE_LOG_LEVEL: "loud" }, "FIELDGATE_LOG_LEVEL", "one of fatal"],
    ["channels that are no JSON", { FIELDGATE_DELIVERY: "smtp://a" }, "FIELDGATE_DELIVERY", "JSON"],
    ["a bad channel", { FIELDGATE_DELIVERY: '[{"type":"fax"}]' }, "FIELDGATE_DELIVERY[0].type", "not known"],
    ["a policy that is no JSON", { FIELDGATE_POLICY: "{" }, "FIELDGATE_POLICY", "JSON"],
    ["a policy that is a list", { FIELDGATE_POLICY: "[]" }, "FIELDGATE_POLICY", "object"],
    ["an unknown number", { FIELDGATE_POLICY: '{"tokens":{"access":5}}' }, "FIELDGATE_POLICY", "tokens.access"],
    ["__proto__", { FIELDGATE_POLICY: '{"__proto__":{"a":1}}' }, "FIELDGATE_POLICY", "__proto__"],
    ["a number too low", { FIELDGATE_POLICY: '{"password":{"minLength":8}}' }, "FIELDGATE_POLICY", "from 15 to 64"],
    ["a fraction", { FIELDGATE_POLICY: '{"dpopNonce":10.5}' }, "FIELDGATE_POLICY", "whole number"],
    ["a number for a group", { FIELDGATE_POLICY: '{"sessions":{"bound":5}}' }, "FIELDGATE_POLICY", "sessions.bound"],
    [
      "a contradiction",
      { FIELDGATE_POLICY: '{"sessions":{"plain":{"absolute":600}}}' },
      "FIELDGATE_POLICY",
      "sessions.plain.idle",
    ],
    ["a misspelt variable", { FIELDGATE_BASEURL: "x" }, "FIELDGATE_BASEURL", "Did you mean FIELDGATE_BASE_URL?"],
    ["an unknown variable", { FIELDGATE_COLOUR_OF_THE_SKY: "x" }, "FIELDGATE_COLOUR_OF_THE_SKY", "not known"],
  ])("%s", (_, env, variable, reason) => {
    const told = problems({ ...base, ...env });
    expect(Object.keys(told)).toEqual([variable]);
    expect(told[variable]).toContain(reason);
  });

  it("without telling a secret", () => {
    const values = { FIELDGATE_SECRET: "hush-hush-hush", FIELDGATE_DATABASE_URL: "mysql://u:hunter2@db/x" };
    const text = JSON.stringify(problems({ ...base, ...values, FIELDGATE_METRICS_TOKEN: "tokentoken" }));
    for (const hidden of ["hush", "hunter2", "tokentoken"]) expect(text).not.toContain(hidden);
  });
});

describe("development", () => {
  const dev = { ...options, dev: true };
  const env = { FIELDGATE_SECRET: secret };

  it("has a base URL by default and listens on this machine whatever HOST says", () => {
    expect(parseConfig({ ...env, HOST: "0.0.0.0", PORT: "4000" }, dev)).toMatchObject({
      mode: "development",
      baseUrl: "http://localhost:4000",
      listen: { host: "127.0.0.1", port: 4000 },
    });
  });

  it("accepts http on this machine only", () => {
    const origins = { FIELDGATE_CORS_ORIGINS: "http://localhost:5173" };
    expect(parseConfig({ ...env, ...origins }, dev).corsOrigins).toEqual(["http://localhost:5173"]);
    expect(problems({ ...env, FIELDGATE_BASE_URL: "http://id.example.org" }, dev)).toHaveProperty("FIELDGATE_BASE_URL");
    expect(problems({ ...env, FIELDGATE_HOST: "0.0.0.0" }, dev)).toHaveProperty("FIELDGATE_HOST");
  });

  it("has the same rules for a secret", () => {
    expect(problems({ FIELDGATE_SECRET: "changeme" }, dev)).toHaveProperty("FIELDGATE_SECRET");
  });
});
