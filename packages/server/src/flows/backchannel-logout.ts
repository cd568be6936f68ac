import { hash } from "node:crypto";
import { Fault } from "../fault.ts";
import { recordEvent } from "../journal/record.ts";
import type { IdentityProvider } from "../people/identity-providers.ts";
import { findProviderWorker } from "../people/provider-workers.ts";
import type { Services } from "../services.ts";
import { recordLogout } from "../store/provider-logouts.ts";
import { endSessions } from "../store/sessions.ts";
import { spendToken } from "../store/spent-tokens.ts";
import type { Queries } from "../store/store.ts";
import { freshSeconds, type LogoutClaims, providerSkew } from "../tokens/providers/provider-tokens.ts";
import { issuerOfToken } from "../tokens/token-issuer.ts";

const spentSeconds = 2 * (freshSeconds + providerSkew);

/**
 * OpenID Connect Back-Channel Logout 1.0: the provider has ended a session, or all of a person's. Ends what was started
 * from it here, in every tenant that shares the client, and remembers it for tokens that were not seen yet.
 */
export async function backchannelLogout(services: Services, token: string): Promise<void> {
  const { store, providers, providerTokens, revocations } = services;
  const { rules, claims } = await refusingAlike(async () =>
    providerTokens.logoutToken(await providers.withIssuer(issuerOfToken(token) ?? ""), token),
  );
  const [{ issuer }] = rules as [IdentityProvider];
  const spentId = hash("sha256", JSON.stringify(["logout_token", issuer, claims.jti]), "base64url");
  // In a transaction of its own, before sessions are looked for: whoever starts one looks here after it.
  const isNew = await store.transaction(async (tx) => {
    if (!(await spendToken(tx, spentId, spentSeconds))) return false;
    await recordLogout(tx, { issuer, subject: claims.sub, sid: claims.sid }, claims.iat * 1000);
    return true;
  });
  if (!isNew) throw refusal("used before");
  for (const provider of rules) {
    revocations.add(await store.transaction((tx) => endProviderSessions(tx, provider, claims)));
  }
}

async function endProviderSessions(tx: Queries, provider: IdentityProvider, claims: LogoutClaims): Promise<string[]> {
  const { tenantId, type, issuer } = provider;
  const { sub, sid } = claims;
  const worker = sub === null ? null : await findProviderWorker(tx, { tenantId, issuer, subject: sub });
  // Somebody who never came here has nothing to end.
  if (sub !== null && !worker) return [];
  const choice = { tenantId, provider: type, userId: worker?.id };
  const ended = await endSessions(tx, { ...choice, providerSid: sid ?? undefined }, "provider_logout");
  // Tokens that do not say of which session they are may be of this one.
  if (sid !== null && worker) {
    ended.push(...(await endSessions(tx, { ...choice, providerSid: null }, "provider_logout")));
  }
  await recordEvent(tx, {
    tenantId,
    type: "provider.logged_out",
    subject: worker?.id,
    data: { way: type, count: ended.length },
  });
  return ended;
}

const refusal = (detail: string, cause?: unknown) =>
  new Fault("invalid_request", {
    field: "logout_token",
    message: "The logout_token is not one of an identity provider of ours, or was used before.",
    detail,
    cause,
  });

/** The specification wants a 400 for whatever is wrong with the token. */
async function refusingAlike<Value>(work: () => Promise<Value>): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Fault && error.code === "invalid_token") throw refusal(error.detail ?? "", error);
    throw error;
  }
}
