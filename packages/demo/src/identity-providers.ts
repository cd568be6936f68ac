import { findTenant, type Services, updateTenant } from "@fieldgate/server";
import { type IdentityProvider, startHostedProvider, startRealmProvider } from "./identity-provider/index.ts";
import { demoTenant } from "./people.ts";

/** The providers of the demo, a hosted one and one with realms, each on a port of its own. */
export interface DemoProviders {
  readonly hosted: IdentityProvider;
  readonly realms: IdentityProvider;
  close(): Promise<void>;
}

const clientId = "fieldgate-demo";

/** They answer on the two ports after the service's, or on any free ones. Their keys are made when somebody comes. */
export async function startDemoProviders(baseUrl: string): Promise<DemoProviders> {
  const { port } = new URL(baseUrl);
  const redirectUris = ["localhost", "127.0.0.1"].map((host) => `http://${host}:${port}/`);
  const backchannelLogoutUri = `${baseUrl}/api/auth/oidc/backchannel-logout`;
  const clients = [{ clientId, redirectUris, postLogoutRedirectUris: redirectUris, backchannelLogoutUri }];
  const hosted = await onPort(Number(port) + 1, (own) => startHostedProvider({ port: own, clients }));
  const realms = await onPort(Number(port) + 2, (own) => startRealmProvider({ port: own, clients }));
  return {
    hosted,
    realms,
    close: async () => {
      await Promise.all([hosted.close(), realms.close()]);
    },
  };
}

async function onPort(port: number, start: (port: number) => Promise<IdentityProvider>): Promise<IdentityProvider> {
  try {
    return await start(port);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EADDRINUSE")) throw error;
    return start(0);
  }
}

/** Tells the demo's tenant where the providers are. One that somebody has set up elsewhere stays. */
export async function offerProviders({ store }: Services, { hosted, realms }: DemoProviders): Promise<void> {
  const ours = [
    { type: "oidc_a", fields: { authority: hosted.authority, client_id: clientId, organization: "org_demo" } },
    { type: "oidc_b", fields: { authority: realms.authority, client_id: clientId, realm: "demo" } },
  ];
  await store.transaction(async (tx) => {
    const tenant = await findTenant(tx, demoTenant.id);
    if (!tenant) return;
    const { adapters } = tenant.settings;
    const others = adapters.filter(({ fields }) => fields.client_id !== clientId);
    const missing = ours.filter(({ type }) => !others.some((other) => other.type === type));
    const next = [...others, ...missing];
    if (JSON.stringify(next) === JSON.stringify(adapters)) return;
    await updateTenant(tx, tenant.id, { settings: { ...tenant.settings, adapters: next } }, { loopbackHttp: true });
  });
}
