import { hash } from "node:crypto";
import { scopes } from "@fieldgate/contract";
import type { Clock } from "../clock.ts";
import { Fault } from "../fault.ts";
import { type IdentityProvider, openProviderSecret } from "../people/identity-providers.ts";
import type { ProviderDirectory } from "../people/provider-directory.ts";
import { wasLoggedOut } from "../store/provider-logouts.ts";
import { endSessions, ensureSession, findSession, type SessionRecord } from "../store/sessions.ts";
import type { Store } from "../store/store.ts";
import type { KeyVault } from "../tokens/key-vault.ts";
import type { Introspection } from "../tokens/providers/introspection.ts";
import type { ProviderClaims, ProviderTokens } from "../tokens/providers/provider-tokens.ts";
import type { ForeignTokens, VerifiedToken } from "../tokens/token-check.ts";
import { admitWorker, methodsOf } from "./admit-worker.ts";
import { sidOf } from "./oidc-exchange.ts";

export interface ProviderBearerParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly providers: ProviderDirectory;
  readonly providerTokens: ProviderTokens;
  readonly introspection: Introspection;
  readonly vault: KeyVault;
}

/** Milliseconds after which a token is looked at anew: its provider may have been taken away, or its key withdrawn. */
const recheckMs = 60_000;

/**
 * Access tokens of the tenants' identity providers. Each gets a session of its own at first sight, without a refresh
 * token: so it is listed and ended like any other, by administrators, by disabling the worker, by the provider's logout.
 */
export function createProviderBearer(parts: ProviderBearerParts): ForeignTokens {
  const { store, clock, providers, providerTokens, introspection, vault } = parts;

  async function sessionOf(id: string, provider: IdentityProvider, claims: ProviderClaims): Promise<SessionRecord> {
    const known = await findSession(store, id);
    if (known) return known.session;
    const seconds = Math.max(1, Math.ceil(claims.exp - clock.now() / 1000));
    const started = await store.transaction(async (tx) => {
      const worker = await admitWorker(tx, provider, claims, "access-token");
      if (typeof worker === "string") return worker;
      return ensureSession(tx, {
        id,
        tenantId: provider.tenantId,
        userId: worker.id,
        kind: "field-worker",
        username: worker.username,
        provider: provider.type,
        amr: methodsOf(claims),
        acr: "substantial",
        scope: scopes["field-worker"],
        entityId: null,
        parentId: null,
        providerSid: sidOf(claims),
        deviceId: null,
        refreshKeyId: null,
        headHash: null,
        jkt: null,
        idleSeconds: seconds,
        absoluteSeconds: seconds,
      });
    });
    if (typeof started === "string") throw new Fault("invalid_token", { detail: started });
    const person = { issuer: provider.issuer, subject: claims.sub, sid: sidOf(claims) };
    // Only now: a logout that came meanwhile either sees the session, or is seen here.
    if (await wasLoggedOut(store, person, claims.iat * 1000)) {
      const choice = { tenantId: provider.tenantId, sessionId: id };
      await store.transaction((tx) => endSessions(tx, choice, "provider_logout"));
      throw new Fault("session_revoked", { detail: "the provider has ended this session" });
    }
    return started;
  }

  async function living(token: string, provider: IdentityProvider, claims: ProviderClaims): Promise<VerifiedToken> {
    const session = await sessionOf(idOf(provider, token), provider, claims);
    if (session.revokedAt !== null) throw new Fault("session_revoked");
    return verified(provider, claims, session, clock.now() + recheckMs);
  }

  return {
    async verify(token, issuer) {
      const candidates = await providers.withIssuer(issuer);
      const { rules: provider, claims } = await providerTokens.accessToken(candidates, token);
      return living(token, provider, claims);
    },
    async verifyOpaque(token, tenantId) {
      for (const provider of await providers.ofTenant(tenantId)) {
        const secret = openProviderSecret(vault, provider);
        if (secret === null) continue;
        const client = { clientId: provider.introspectionClient ?? provider.clientId, secret };
        return living(token, provider, await introspection.ask(provider, client, token));
      }
      throw new Fault("invalid_token", { detail: "opaque, and nobody can be asked about it" });
    },
  };
}

/** What was signed names the token; its signature may have several spellings. */
function idOf({ tenantId, type }: IdentityProvider, token: string): string {
  const signed = token.includes(".") ? token.slice(0, token.lastIndexOf(".")) : token;
  return hash("sha256", JSON.stringify(["provider token", tenantId, type, signed]), "base64url");
}

function verified(
  { tenantId, type, issuer, audience, clientId }: IdentityProvider,
  claims: ProviderClaims,
  session: SessionRecord,
  until: number,
): VerifiedToken {
  return {
    claims: {
      iss: claims.iss ?? issuer,
      aud: audience ?? clientId,
      sub: session.userId,
      iat: claims.iat,
      nbf: claims.nbf ?? claims.iat,
      exp: claims.exp,
      jti: claims.jti ?? session.id,
      sid: session.id,
      tenantId,
      scope: session.scope,
      amr: [...session.amr],
      acr: session.acr,
    },
    username: session.username,
    provider: type,
    deviceId: session.deviceId,
    until,
  };
}
