import { hash } from "node:crypto";
import type { OidcType } from "@fieldgate/contract";
import { type JWTHeaderParameters, type JWTPayload, errors as joseErrors, jwtVerify } from "jose";
import type { Clock } from "../../clock.ts";
import { Fault } from "../../fault.ts";
import { longestProviderTokenSeconds } from "../../store/provider-logouts.ts";
import type { ProviderKeys, ProviderSource } from "./provider-keys.ts";

/** What a token is held against. */
export interface ProviderRules {
  readonly type: OidcType;
  /** Without a slash at its end. */
  readonly issuer: string;
  readonly clientId: string;
  readonly organization: string;
  readonly audience: string | null;
}

/** What a good token says. */
export interface ProviderClaims extends JWTPayload {
  readonly sub: string;
  readonly iat: number;
  readonly exp: number;
}

export interface ProviderTokens {
  /** An ID token for the client, fresh, and bound to a key by its nonce. */
  idToken(rules: ProviderRules, token: string, nonce: string): Promise<ProviderClaims>;
  /** An access token, and which of the issuer's providers it is for. */
  accessToken<Rules extends ProviderRules>(
    candidates: readonly Rules[],
    token: string,
  ): Promise<{ readonly rules: Rules; readonly claims: ProviderClaims }>;
  /** The claims of a logout token, with the providers whose client it is for. */
  logoutToken<Rules extends ProviderRules>(
    candidates: readonly Rules[],
    token: string,
  ): Promise<{ readonly rules: readonly Rules[]; readonly claims: LogoutClaims }>;
}

export interface LogoutClaims {
  readonly jti: string;
  /** Seconds. */
  readonly iat: number;
  readonly sub: string | null;
  readonly sid: string | null;
}

/** Signatures with a private key alone: nothing that a secret, or nobody, can sign. */
const algorithms = [
  ...["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"],
  ...["ES256", "ES384", "ES512", "EdDSA", "Ed25519"],
];
/** Seconds our clocks may differ. */
export const providerSkew = 60;
/** Seconds after which an ID token, or a logout token, is too old to be acted upon. */
export const freshSeconds = 300;
const longestToken = 12_288;
/** Seconds for which a token is taken to live whose provider does not say. */
const unknownLife = 60;
const logoutEvent = "http://schemas.openid.net/event/backchannel-logout";

const bad = (detail: string, cause?: unknown) => new Fault("invalid_token", { detail, cause });

export const sourceOf = ({ issuer, type }: ProviderRules): ProviderSource => ({
  issuer,
  mayEndWithSlash: type === "oidc_a",
});

/** The nonce by which an ID token names the key of the client that asked for it. */
export function boundNonce(jkt: string, salt: string): string {
  return hash("sha256", `${jkt}.${salt}`, "base64url");
}

export function createProviderTokens(keys: ProviderKeys, clock: Clock): ProviderTokens {
  const now = () => clock.now() / 1000;

  /** Signature, issuer and times. Which token it is, and for whom, is for the caller to ask. */
  async function open(source: ProviderSource, token: string) {
    if (token.length > longestToken) throw bad("too long");
    const { issuer } = await keys.metadata(source);
    try {
      const { payload, protectedHeader } = await jwtVerify(token, (header) => keys.keyFor(source, header), {
        algorithms,
        issuer,
        clockTolerance: providerSkew,
        currentDate: new Date(clock.now()),
        requiredClaims: ["iat"],
      });
      demandHeader(protectedHeader);
      const { iat = 0 } = payload;
      if (iat > now() + providerSkew) throw bad("issued in the future");
      wholeSeconds(payload);
      return { payload, typ: protectedHeader.typ?.toLowerCase().replace(/^application\//, "") };
    } catch (cause) {
      if (cause instanceof joseErrors.JOSEError) throw bad(cause.code, cause);
      // A key of the provider's that is too weak or none at all: jose and WebCrypto refuse it in these ways.
      if (cause instanceof TypeError || cause instanceof DOMException) throw bad("a key that cannot be used", cause);
      throw cause;
    }
  }

  return {
    async idToken(rules, token, nonce) {
      const { payload, typ } = await open(sourceOf(rules), token);
      if (typ !== undefined && typ !== "jwt") throw bad(`typ is ${typ}`);
      if (payload.typ !== undefined && payload.typ !== "ID") throw bad("another kind of token");
      if (payload.events !== undefined) throw bad("a security event");
      demandAudience(payload, rules.clientId);
      demandOrganization(payload, rules);
      if (payload.nonce !== nonce) throw bad("nonce of another sign-in");
      const claims = demandPerson(payload);
      if (now() - claims.iat > freshSeconds) throw bad("too old");
      return claims;
    },

    async accessToken(candidates, token) {
      const { payload, typ } = await openFirst(candidates, token, open);
      if (typ !== undefined && typ !== "jwt" && typ !== "at+jwt") throw bad(`typ is ${typ}`);
      const [rules, ...more] = candidates.filter((each) => isAccessTokenOf(payload, each));
      // What two tenants could take for theirs is nobody's.
      if (!rules || more.length > 0) throw bad("no access token for a client of ours");
      return { rules, claims: demandLife(demandPerson(payload)) };
    },

    async logoutToken(candidates, token) {
      const { payload, typ } = await openFirst(candidates, token, open);
      if (typ !== undefined && typ !== "jwt" && typ !== "logout+jwt") throw bad(`typ is ${typ}`);
      const rules = candidates.filter(({ clientId }) => audiences(payload).includes(clientId));
      if (rules.length === 0) throw bad("for another client");
      const { events, nonce, iat = 0, jti, sub = null, sid = null } = payload;
      if (typeof events !== "object" || events === null || !isObject((events as Members)[logoutEvent])) {
        throw bad("not a logout");
      }
      if (nonce !== undefined) throw bad("a nonce in a logout token");
      if (!isName(jti)) throw bad("no jti");
      if ((sub !== null && !isName(sub)) || (sid !== null && !isName(sid)) || (sub === null && sid === null)) {
        throw bad("names nobody");
      }
      if (now() - iat > freshSeconds + providerSkew) throw bad("too old");
      return { rules, claims: { jti, iat, sub, sid: sid as string | null } };
    },
  };
}

type Members = Readonly<Record<string, unknown>>;

const isObject = (value: unknown) => typeof value === "object" && value !== null && !Array.isArray(value);

/** All candidates have the same issuer, and so the same keys. */
async function openFirst<Opened>(
  candidates: readonly ProviderRules[],
  token: string,
  open: (source: ProviderSource, token: string) => Promise<Opened>,
): Promise<Opened> {
  const [first] = candidates;
  if (!first) throw bad("unknown issuer");
  return open(sourceOf(first), token);
}

/** A key that the token brings along, or that it says where to fetch, is nobody's; and there is no extension we know. */
function demandHeader(header: JWTHeaderParameters): void {
  for (const name of ["jwk", "jku", "x5u", "x5c", "crit", "b64"] as const) {
    if (header[name] !== undefined) throw bad(`${name} in the header`);
  }
}

/** Times may have fractions (RFC 7519); columns and comparisons have none. */
function wholeSeconds(payload: JWTPayload): void {
  for (const name of ["iat", "exp"] as const) {
    if (typeof payload[name] === "number") payload[name] = Math.floor(payload[name]);
  }
}

function audiences({ aud }: JWTPayload): readonly unknown[] {
  return Array.isArray(aud) ? aud : [aud];
}

function demandAudience(payload: JWTPayload, clientId: string): void {
  const all = audiences(payload);
  if (!all.includes(clientId)) throw bad("for another client");
  if (payload.azp !== undefined ? payload.azp !== clientId : all.length > 1) throw bad("issued to another client");
}

/** The id, exactly: never a name that looks like it, another case, or one of several. */
function isOfOrganization(payload: JWTPayload, { type, organization }: ProviderRules): boolean {
  return type !== "oidc_a" || (typeof payload.org_id === "string" && payload.org_id === organization);
}

function demandOrganization(payload: JWTPayload, rules: ProviderRules): void {
  if (!isOfOrganization(payload, rules)) throw bad("of another organization");
}

/** Whether a genuine token of the issuer is an access token that a provider's own client was given. */
function isAccessTokenOf(payload: JWTPayload, rules: ProviderRules): boolean {
  const { azp, client_id: client = azp, nonce, at_hash, c_hash, events, cnf, typ } = payload;
  // ID tokens and logout tokens; and one that is bound to a key is no bearer token.
  if ([at_hash, c_hash, events, cnf].some((claim) => claim !== undefined)) return false;
  // Realms say by `typ` what a token is; older ones repeat the nonce in access tokens.
  if (nonce !== undefined && rules.type === "oidc_a") return false;
  if (client !== rules.clientId || (azp ?? client) !== rules.clientId) return false;
  const isForUs = rules.audience !== null && audiences(payload).includes(rules.audience);
  if (rules.type === "oidc_b") return typ === "Bearer" && (rules.audience === null || isForUs);
  // For the client itself are ID tokens, also where they say little else.
  if (rules.audience !== rules.clientId && audiences(payload).includes(rules.clientId)) return false;
  return isForUs && (typ === undefined || typ === "Bearer") && isOfOrganization(payload, rules);
}

/**
 * What an introspection answer says of a token, where it is an access token that the provider's own client was given. It is
 * held against the same person and organization as a JWT; a provider need not tell when it was issued.
 */
export function readIntrospection(rules: ProviderRules, issuer: string, answer: Members, now: number): ProviderClaims {
  const { active, client_id: client, token_type: type, cnf, iss = issuer } = answer;
  if (active !== true) throw bad("not active");
  if (client !== rules.clientId) throw bad("issued to another client");
  // A refresh token is active too, but has no such type.
  if (typeof type !== "string" || type.toLowerCase() !== "bearer") throw bad("no bearer token");
  if (cnf !== undefined || iss !== issuer) throw bad("bound to a key, or of another issuer");
  const payload: JWTPayload = { iat: now, exp: now + unknownLife, ...answer };
  demandOrganization(payload, rules);
  const claims = demandLife(demandPerson(payload));
  if (claims.exp <= now || (claims.nbf ?? 0) > now + providerSkew) throw bad("expired");
  return claims;
}

/** A name that a provider gives: no database stumbles over it. */
function isName(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value.length <= 255 && !/[\p{Cc}\p{Cs}]/u.test(value);
}

function demandPerson(payload: JWTPayload): ProviderClaims {
  const { sub, iat, exp, sid } = payload;
  if (!isName(sub)) throw bad("no sub");
  if (sid !== undefined && !isName(sid)) throw bad("no sid");
  if (typeof iat !== "number" || typeof exp !== "number") throw bad("no times");
  return payload as ProviderClaims;
}

function demandLife(claims: ProviderClaims): ProviderClaims {
  if (claims.exp - claims.iat > longestProviderTokenSeconds) throw bad("lives too long");
  return claims;
}
