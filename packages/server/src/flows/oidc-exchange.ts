import { hash } from "node:crypto";
import type { OidcType, Session } from "@fieldgate/contract";
import { Fault } from "../fault.ts";
import { recordEvent } from "../journal/record.ts";
import type { IdentityProvider } from "../people/identity-providers.ts";
import { findProviderWorker } from "../people/provider-workers.ts";
import type { Services } from "../services.ts";
import { wasLoggedOut } from "../store/provider-logouts.ts";
import { endSessions, type SessionRecord } from "../store/sessions.ts";
import { spendToken } from "../store/spent-tokens.ts";
import type { DpopProof } from "../tokens/dpop-proof.ts";
import { networkMark } from "../tokens/index-key.ts";
import { boundNonce, freshSeconds, type ProviderClaims, providerSkew } from "../tokens/providers/provider-tokens.ts";
import { admitWorker, identityOf, methodsOf, type Refusal } from "./admit-worker.ts";
import { knownDevice } from "./known-device.ts";
import { networkOf } from "./network.ts";
import { sessionAnswer } from "./session-answer.ts";
import { startWorkerSession } from "./start-session.ts";

export interface OidcExchange {
  /** It need not exist: an unknown tenant answers like a bad token. */
  readonly tenantId: string;
  readonly type: OidcType;
  readonly idToken: string;
  readonly salt: string;
  readonly proof: DpopProof;
  readonly deviceToken: string | null;
  readonly address: string;
}

/** Longer than any ID token is accepted, on whichever machine's clock. */
const spentSeconds = 2 * (freshSeconds + providerSkew);

/** Turns a fresh ID token of the tenant's provider into a session that is bound to the key the token was asked for with. */
export async function exchangeIdToken(services: Services, request: OidcExchange): Promise<Session> {
  const { store, providers, providerTokens, revocations } = services;
  const provider = await providers.find(request.tenantId, request.type);
  if (!provider) throw new Fault("invalid_token", { detail: "the tenant has no such provider" });
  const nonce = boundNonce(request.proof.jkt, request.salt);
  const claims = await providerTokens.idToken(provider, request.idToken, nonce);

  const verdict = await storeSignIn(services, request, provider, claims, nonce);
  if (verdict === "not_provisioned") throw new Fault("not_provisioned");
  if (typeof verdict === "string") throw new Fault("invalid_token", { detail: verdict });

  // Only now: a logout that came meanwhile either sees the session, or is seen here.
  const person = { issuer: provider.issuer, subject: claims.sub, sid: sidOf(claims) };
  if (await wasLoggedOut(store, person, claims.iat * 1000)) {
    const choice = { tenantId: provider.tenantId, sessionId: verdict.id };
    revocations.add(await store.transaction((tx) => endSessions(tx, choice, "provider_logout")));
    throw new Fault("invalid_token", { detail: "the provider has ended this session" });
  }
  return sessionAnswer(services, verdict);
}

export const sidOf = ({ sid }: ProviderClaims): string | null => (typeof sid === "string" ? sid : null);

async function storeSignIn(
  services: Services,
  request: OidcExchange,
  provider: IdentityProvider,
  claims: ProviderClaims,
  nonce: string,
): Promise<SessionRecord | Refusal | "used before"> {
  const { store, tenants, keyring } = services;
  const { tenantId, type } = provider;
  const policy = await tenants.policy(tenantId);
  const known = await findProviderWorker(store, identityOf(provider, claims));
  const deviceId = await knownDevice(services, tenantId, known ? [known.id] : [], request.deviceToken);
  const network = networkMark(keyring.mac("index").secret, networkOf(request.address));
  // The nonce names the sign-in: one that was used is over, whichever ID token of it is shown.
  const spentId = hash("sha256", JSON.stringify(["id_token", provider.issuer, nonce]), "base64url");

  return store.transaction(async (tx) => {
    const failed = async <Reason extends string>(reason: Reason) => {
      const data = { way: type, network, reason };
      await recordEvent(tx, { tenantId, type: "login.failed", subject: known?.id, data });
      return reason;
    };
    if (!(await spendToken(tx, spentId, spentSeconds))) return failed("used before");
    const worker = await admitWorker(tx, provider, claims, "id-token");
    if (typeof worker === "string") return failed(worker);
    const session = await startWorkerSession(services, tx, {
      worker,
      provider: type,
      amr: methodsOf(claims),
      acr: "substantial",
      proof: request.proof,
      deviceId,
      policy,
      providerSid: sidOf(claims),
    });
    if (!session) return failed("disabled");
    await recordEvent(tx, {
      tenantId,
      type: "login.succeeded",
      subject: worker.id,
      sessionId: session.id,
      data: { way: type, bound: true, network },
    });
    return session;
  });
}
