import { availableParallelism } from "node:os";
import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import { type Clock, systemClock } from "./clock.ts";
import type { Config } from "./config/config.ts";
import { ConfigError } from "./config/config-error.ts";
import type { Channel } from "./delivery/channel.ts";
import { startDelivery } from "./delivery/deliver.ts";
import { countDeliveries, countReceipts } from "./delivery/delivery-metrics.ts";
import { openChannels } from "./delivery/open-channels.ts";
import { startHousekeeping } from "./flows/housekeeping.ts";
import { createIdBreaker } from "./flows/id-breaker.ts";
import { createProviderBearer } from "./flows/provider-bearer.ts";
import { createHttpServer } from "./http/create-http-server.ts";
import { createMetrics } from "./http/metrics.ts";
import { listenForMetrics } from "./http/metrics-listener.ts";
import { createLogger } from "./http/request-log.ts";
import { shutDown } from "./http/shutdown.ts";
import { checkpointFile } from "./journal/checkpoint-file.ts";
import { startSealer } from "./journal/sealer.ts";
import { createDataKeys } from "./people/data-keys.ts";
import { createPasswordHasher } from "./people/password-hash.ts";
import { createProviderDirectory } from "./people/provider-directory.ts";
import { createTenantDirectory } from "./people/tenant-directory.ts";
import { registerDeliveryRoutes } from "./routes/delivery.ts";
import { registerDocsRoutes } from "./routes/docs.ts";
import { registerHealthRoutes } from "./routes/health.ts";
import { registerIdRoutes } from "./routes/id.ts";
import { registerKeyRoutes } from "./routes/keys.ts";
import { registerOidcRoutes } from "./routes/oidc.ts";
import { registerOpenApiRoute } from "./routes/openapi.ts";
import { registerOtpRoutes } from "./routes/otp.ts";
import { type PortalParts, registerPortalRoutes } from "./routes/portal.ts";
import { registerQrRoutes } from "./routes/qr.ts";
import { registerSyncRoutes } from "./routes/sync.ts";
import { registerTenantRoutes } from "./routes/tenants.ts";
import { registerUserRoutes } from "./routes/users.ts";
import type { Services } from "./services.ts";
import { startMaintenance } from "./store/maintenance.ts";
import { openStore } from "./store/open-store.ts";
import type { Store } from "./store/store.ts";
import { createAccessTokens } from "./tokens/access-token.ts";
import { createDpopNonces } from "./tokens/dpop-nonce.ts";
import { startKeyRotation } from "./tokens/key-rotation.ts";
import { createKeyVault } from "./tokens/key-vault.ts";
import { openKeyring } from "./tokens/keyring.ts";
import { ensureKeys } from "./tokens/keys.ts";
import { createIntrospection } from "./tokens/providers/introspection.ts";
import { createProviderFetch } from "./tokens/providers/provider-fetch.ts";
import { createProviderKeys } from "./tokens/providers/provider-keys.ts";
import { createProviderTokens } from "./tokens/providers/provider-tokens.ts";
import { openRevocations } from "./tokens/revocations.ts";
import { createTokenCheck } from "./tokens/token-check.ts";
import { serverVersion } from "./version.ts";

/** One running node of the service. */
export interface App {
  readonly services: Services;
  readonly http: FastifyInstance;
  /** Begins to answer, and says where. */
  listen(): Promise<{ readonly url: string; readonly metricsUrl: string | null }>;
  /** Finishes what is in flight, then lets go of everything. */
  close(): Promise<void>;
}

export interface AppParts {
  readonly clock?: Clock;
  readonly logger?: Logger;
  /** Ways for messages to leave, besides those of the configuration. */
  readonly channels?: readonly Channel[];
  readonly portal?: PortalParts;
  /** Refuse to send an answer that breaks its schema: for tests. */
  readonly checkAnswers?: boolean;
}

/** Wires a node together: nothing is decided here, only who is given what. */
export async function createApp(config: Config, parts: AppParts = {}): Promise<App> {
  const { clock = systemClock, logger = createLogger(config.logLevel) } = parts;
  const { policy } = config;
  demandChannel(config, parts);
  const onError = (error: unknown) => logger.error({ err: error }, "background work failed; it will be tried again");
  const metrics = createMetrics();
  const store = await openStore(config.database, clock);
  // Whatever was begun is ended in the reverse order, also when the start fails half-way.
  const started: (() => unknown)[] = [() => store.close()];
  const stopAll = async () => {
    for (const stop of started.toReversed()) await stop();
  };

  try {
    await store.migrate();
    const vault = createKeyVault(config.secret, config.previousSecret);
    await ensureKeys(store, vault);
    const keyring = await openKeyring(store, vault, clock, onError);
    started.push(() => keyring.stop());
    const revocations = await openRevocations(store, clock, policy.revocation, onError);
    started.push(() => revocations.stop());

    const accessTokens = createAccessTokens(keyring, clock, {
      issuer: config.baseUrl,
      audience: config.audience,
      skew: policy.tokens.skew,
    });
    const { cacheSize } = policy.tokens;
    const issuer = config.baseUrl;
    const providers = createProviderDirectory(store, clock);
    const fetch = createProviderFetch({ ...config, loopback: config.mode === "development" });
    const keys = createProviderKeys({
      fetch,
      clock,
      onTrouble: (issuer, error) => logger.warn({ issuer, err: error }, "an identity provider cannot be read"),
    });
    const providerTokens = createProviderTokens(keys, clock);
    const introspection = createIntrospection({ fetch, keys, clock });
    const foreignTokens = createProviderBearer({ store, clock, providers, providerTokens, introspection, vault });
    const services: Services = {
      config,
      clock,
      store,
      keyring,
      accessTokens,
      tokenCheck: createTokenCheck({ store, clock, issuer, accessTokens, foreignTokens, revocations, cacheSize }),
      revocations,
      nonces: createDpopNonces(keyring, clock, policy.dpopNonce),
      hasher: createPasswordHasher({ parallel: availableParallelism(), queue: policy.password.queue }),
      tenants: createTenantDirectory(store, clock, policy),
      providers,
      providerTokens,
      dataKeys: createDataKeys(store, vault, clock),
      idBreaker: createIdBreaker({ store, keyring, clock }),
    };

    const sealer = startSealer(store, vault, {
      clock,
      log: logger,
      checkpointFile: checkpointFile(config.dataDir),
      sealSeconds: policy.journal.seal,
      checkpointSeconds: policy.journal.checkpoint,
    });
    started.push(() => sealer.stop());
    const maintenance = startMaintenance(store, { onError });
    started.push(() => maintenance.stop());
    const housekeeping = startHousekeeping(services, onError);
    started.push(() => housekeeping.stop());
    const delivery = startDelivery(services, {
      channels: [...(await openChannels(config.delivery, { baseUrl: config.baseUrl })), ...(parts.channels ?? [])],
      onError,
      onOutcome: countDeliveries(metrics),
      onReceipt: countReceipts(metrics),
    });
    started.push(() => delivery.stop());
    const rotation = startKeyRotation(store, vault, clock, policy.keys, onError);
    started.push(() => rotation.stop());

    const http = createHttpServer({
      ...config,
      limits: policy.http,
      logger,
      metrics,
      dpopNonce: services.nonces.current,
      isReady: () => isReady(store),
      checkAnswers: parts.checkAnswers ?? false,
    });
    registerUserRoutes(http, services);
    registerOidcRoutes(http, services);
    registerOtpRoutes(http, services);
    registerIdRoutes(http, services);
    registerQrRoutes(http, services);
    registerSyncRoutes(http, services);
    registerDeliveryRoutes(http, delivery);
    registerTenantRoutes(http, services);
    registerKeyRoutes(http, services);
    registerHealthRoutes(http);
    registerOpenApiRoute(http, serverVersion);
    registerDocsRoutes(http, serverVersion);
    registerPortalRoutes(http, services, serverVersion, parts.portal);
    started.push(() => shutDown(http, policy.http.grace));

    return {
      services,
      http,
      async listen() {
        const metricsListener = config.metrics && (await listenForMetrics(metrics, config.metrics));
        if (metricsListener) started.unshift(() => metricsListener.close());
        const url = await http.listen({ host: config.listen.host, port: config.listen.port });
        return { url, metricsUrl: metricsListener?.url ?? null };
      },
      close: stopAll,
    };
  } catch (error) {
    await stopAll();
    throw error;
  }
}

/** Codes that nobody can send would be asked for in vain. */
function demandChannel({ mode, delivery }: Config, { channels = [] }: AppParts): void {
  if (mode === "development" || delivery.length + channels.length > 0) return;
  const sentence =
    "is missing: without a channel no code can be sent. " +
    'Set it to a JSON list such as [{"type":"smtp","url":"smtp://…","from":"…"}], or to @FILE that holds one: see docs/delivery.md.';
  throw new ConfigError([{ variable: "FIELDGATE_DELIVERY", sentence }]);
}

async function isReady(store: Store): Promise<boolean> {
  return store.ping().then(
    () => true,
    () => false,
  );
}
