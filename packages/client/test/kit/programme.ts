import { afterAll, beforeAll } from "vitest";
import {
  type IdentityProvider,
  startHostedProvider,
  startRealmProvider,
} from "../../../demo/src/identity-provider/index.ts";
import type { AdapterConfig } from "../../src/adapters/adapter.ts";
import { type Service, useService } from "./service.ts";

/** Where access tokens of the hosted provider are JWTs for. */
export const audience = "https://fieldgate.example/api";

/** Two tenants whose workers sign in through two identity providers, at a real service. */
export interface Programme {
  readonly service: Service;
  readonly hosted: IdentityProvider;
  readonly realms: IdentityProvider;
  /** The adapters of a tenant, with more fields where they are given. */
  configs(tenantId: string, more?: Readonly<Record<string, string>>): AdapterConfig[];
}

const tenants = ["kenya", "uganda"];

/** @param pages The addresses of the app, which the providers may send people to. They are known when tests begin. */
export function useProgramme(pages: () => readonly string[]): Programme {
  const origins: string[] = [];
  let hosted: IdentityProvider;
  let realms: IdentityProvider;

  beforeAll(async () => {
    [hosted, realms] = await Promise.all([startHostedProvider(), startRealmProvider()]);
    origins.push(...pages().map((page) => new URL(page).origin));
    for (const tenantId of tenants) {
      for (const provider of [hosted, realms]) {
        const redirectUris = pages();
        provider.addClient({ clientId: `${tenantId}-app`, redirectUris, postLogoutRedirectUris: redirectUris });
      }
    }
  });
  const service = useService({ config: { corsOrigins: origins } });
  beforeAll(async () => {
    for (const tenantId of tenants) await service.node.addTenant(tenantId, { adapters: configs(tenantId) });
  });
  afterAll(async () => {
    await hosted?.close();
    await realms?.close();
  });

  function configs(tenantId: string, more: Readonly<Record<string, string>> = {}): AdapterConfig[] {
    const common = { client_id: `${tenantId}-app`, ...more };
    const membership = { oidc_a: { organization: "org_demo" }, oidc_b: { realm: "demo" } };
    return [
      { type: "oidc_a", fields: { authority: hosted.authority, audience, ...membership.oidc_a, ...common } },
      { type: "oidc_b", fields: { authority: realms.authority, ...membership.oidc_b, ...common } },
    ];
  }

  return {
    service,
    configs,
    get hosted() {
      return hosted;
    },
    get realms() {
      return realms;
    },
  };
}
