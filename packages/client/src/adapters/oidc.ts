import { type Claims, readClaims, toBinary } from "../encoding.ts";
import { AuthError, ConfigurationError } from "../errors.ts";
import type { PendingSignIn } from "../keys/key-database.ts";
import type { Prover } from "../renewal/dpop.ts";
import { base64url, generatePair, isUndecided, runAlone, sha256 } from "../renewal/renewal.ts";
import type { SignInAnswer } from "../session.ts";
import type { StoredSession } from "../storage/storage.ts";
import { checkUrl } from "../urls.ts";
import type { AdapterConfig, AdapterContext, Credentials, SignedIn } from "./adapter.ts";
import { type OidcFields, type OidcKind, oidcKinds } from "./oidc-kinds.ts";
import { leaveCallback, leavePage, pageAddress } from "./oidc-page.ts";
import { signInByPopup } from "./oidc-popup.ts";
import { createProtocol, type OidcProtocol, type ProviderTokens } from "./oidc-protocol.ts";
import { ServerAuthAdapter } from "./server-adapter.ts";

const longestAbsence = 600_000;

const random = (bytes: number) => base64url(toBinary(crypto.getRandomValues(new Uint8Array(bytes))));

/**
 * Field workers sign in at an identity provider: `oidc_a` at a hosted one with an organization, `oidc_b` at a self-hosted one with a
 * realm. `login` leaves the page, and `handleCallback` finishes on the page that the provider comes back to.
 *
 * @example
 * const auth = new AuthManager([{ type: "oidc_b", fields: { authority, client_id, realm } }], serverUrl, storage);
 * if (new URLSearchParams(location.search).has("state")) await auth.handleCallback("oidc_b");
 * button.onclick = () => auth.login(null, "oidc_b");
 */
export class OidcAuthAdapter extends ServerAuthAdapter {
  protected readonly waysIn = "login(null)";
  readonly #fields: OidcFields;
  readonly #kind: OidcKind;
  readonly #issuer: string;
  readonly #protocol: OidcProtocol;
  /** Tokens of a sign-in that the service could not be told of yet, by its state. */
  readonly #redeemed = new Map<string, ProviderTokens>();

  constructor({ type, fields }: AdapterConfig, context: AdapterContext) {
    super(context.serverBaseUrl, context);
    const { authority, client_id: clientId = "" } = fields;
    this.#fields = fields;
    this.#kind = oidcKinds[type] as OidcKind;
    this.#issuer = this.#kind.issuer(checkUrl(`${type}.authority`, authority), fields);
    const { fetch, timeout } = context;
    this.#protocol = createProtocol({ issuer: this.#issuer, clientId, fetch, timeout });
  }

  /** Sends the person to the provider. In a page the promise goes away with it: `handleCallback` finishes. */
  override async login(_credentials: Credentials | null = null): Promise<SignedIn> {
    const { navigate } = this.context;
    const { display } = this.#fields;
    if (!navigate && !globalThis.location) {
      const message = `The ${this.context.provider} adapter signs in on a web page. Elsewhere, give AuthManager the option navigate.`;
      throw new AuthError("unsupported", message);
    }
    const isPopup = !navigate && display === "popup";
    const url = await this.#begin(isPopup);
    if (isPopup) return signInByPopup(url, this.context);
    const callback = navigate ? await navigate(url) : await leavePage(url);
    return callback ? this.handleCallback(callback) : leavePage();
  }

  /** Notes what is needed to finish, and gives the address to send the person to. */
  async #begin(isPopup: boolean): Promise<string> {
    const { keys, provider, tenantId } = this.context;
    const { redirect_uri: redirectUri = pageAddress(), session, scope, prompt, audience } = this.#fields;
    if (!redirectUri) throw new ConfigurationError(`${provider}.redirect_uri`, "is missing, and there is no page");
    const at = this.context.deviceNow();
    const pair = await generatePair(keys().extractable);
    const [state, salt, verifier] = [random(16), random(16), random(32)];
    const more = session === "provider" ? this.#kind.renewalScope : "";
    const url = await this.#protocol.page("authorization_endpoint", {
      client_id: this.#fields.client_id,
      redirect_uri: redirectUri,
      response_type: "code",
      scope: scope ?? `openid profile email${more}`,
      state,
      nonce: await nonceOf({ pair, salt }),
      code_challenge: await sha256(verifier),
      code_challenge_method: "S256",
      prompt,
      audience,
      ...this.#kind.parameters(this.#fields),
    });
    if (!url) throw new AuthError("provider_error", `${this.#issuer}: it has no authorization_endpoint`);
    for (const [id, old] of await keys().list("sign-in")) if (isOld(old, at)) await keys().remove("sign-in", id);
    const returnTo = globalThis.location?.href;
    const sent = { at, provider, tenantId, pair, salt, verifier, redirectUri, returnTo, isPopup };
    await keys().put("sign-in", state, sent);
    return url;
  }

  /** Finishes a sign-in. The same address again, after a reload or in a second tab, gives the same session. */
  handleCallback(url: string): Promise<SignedIn> {
    const { tenantId, provider, timeout } = this.context;
    const name = `fieldgate:${tenantId}:${provider}`;
    return runAlone(name, 3 * timeout, () => this.#finish(url));
  }

  async #finish(url: string): Promise<SignedIn> {
    const { keys, provider, tenantId } = this.context;
    const state = new URL(url).searchParams.get("state") ?? "";
    const sent = await keys().get("sign-in", state);
    const isOurs = sent && sent.provider === provider && sent.tenantId === tenantId;
    // It is good for one return. What another adapter began stays where it is, for that one.
    if (isOurs) await keys().remove("sign-in", state);
    if (!isOurs || isOld(sent, this.context.deviceNow())) {
      if (!sent || isOurs) leaveCallback(url);
      return this.#finishedBefore();
    }
    // With the provider's own tokens there is no session at the service to bind.
    const options = this.#keepsTokens ? {} : { server: this.api.url, bind: sent.pair };
    try {
      const signedIn = await this.context.signIn(({ prove }) => this.#exchange(url, state, sent, prove), options);
      if (sent.isPopup) globalThis.close?.();
      else leaveCallback(url, sent.returnTo);
      return signedIn;
    } catch (error) {
      // Nothing was decided: the same address may be tried again.
      if (isUndecided(error)) await keys().put("sign-in", state, sent);
      else {
        leaveCallback(url);
        if (sent.isPopup && (error as AuthError).code === "access_denied") globalThis.close?.();
      }
      throw error;
    }
  }

  /** A reload, the back button, or the slower of two tabs. */
  async #finishedBefore(): Promise<SignedIn> {
    const token = await this.context.currentToken();
    const session = await this.context.session();
    if (token && session?.token === token) return { username: session.username, token };
    throw new AuthError("sign_in_expired", "This sign-in is over, or was begun elsewhere. Begin again.");
  }

  async #exchange(url: string, state: string, sent: PendingSignIn, prove: Prover | undefined): Promise<SignInAnswer> {
    const tokens = this.#redeemed.get(state) ?? (await this.#protocol.redeem(url, { ...sent, state }));
    const { id_token: idToken = "" } = tokens;
    const claims = readClaims(idToken) ?? {};
    await this.#demand({ iss: (await this.#protocol.discover()).issuer, nonce: await nonceOf(sent) }, claims);
    await this.#demand(this.#kind.claims(this.#fields), claims);
    if (![claims.aud].flat().includes(this.#fields.client_id)) throw this.#refusal("aud", claims.aud);
    this.#redeemed.set(state, tokens);
    const answer = this.#keepsTokens
      ? { ...toAnswer(tokens), username: nameOf(claims) }
      : await this.#becomeSession(idToken, sent.salt, prove);
    this.#redeemed.delete(state);
    return { ...answer, idToken };
  }

  /** Exchanges the ID token for a session at the service, bound to the key that the token names. */
  #becomeSession(idToken: string, salt: string, prove: Prover | undefined): Promise<SignInAnswer> {
    const { tenantId } = this.context;
    const body = { type: this.#kind.type, idToken, salt, ...(tenantId && { tenantId }) };
    return this.api.request<SignInAnswer>("/api/auth/oidc/exchange", { prove, body });
  }

  /** Ends the session here, and then the one at the provider, where the person is sent for it. */
  override async logout(ended?: readonly StoredSession[]): Promise<void> {
    const { provider, signOut, navigate = globalThis.location && leavePage } = this.context;
    const gone = (ended ?? (await signOut())).find((session) => session.provider === provider);
    if (!gone?.idToken || !navigate) return;
    const { client_id, post_logout_redirect_uri = pageAddress() } = this.#fields;
    const parameters = { id_token_hint: gone.idToken, client_id, post_logout_redirect_uri };
    try {
      const url = await this.#protocol.page("end_session_endpoint", parameters);
      if (url) navigate(url);
    } catch (error) {
      // The provider is away. Here everything is gone, which is all that can be done; AuthManager warns of the rest.
      if (ended || !isUndecided(error)) throw error;
    }
  }

  /** Renews the provider's own tokens, with `session: "provider"`. */
  async refresh({ username, refreshToken = "", idToken }: StoredSession): Promise<SignInAnswer> {
    const tokens = await this.#protocol.refresh(refreshToken);
    const answer = toAnswer(tokens);
    if (answer.idToken) await this.#demand({ sub: readClaims(idToken ?? "")?.sub }, readClaims(answer.idToken) ?? {});
    return { refreshToken, ...answer, username };
  }

  get #keepsTokens(): boolean {
    return this.#fields.session === "provider";
  }

  protected override async validateInFrontend(token: string): Promise<boolean> {
    // A provider's opaque token says nothing: there is only the server's verdict.
    if (this.#keepsTokens && token && !token.includes(".")) {
      return (await this.context.checkToken(token, this.api)) !== "invalid";
    }
    return super.validateInFrontend(token);
  }

  /** The local rules: the provider's own for a token of the provider, those that all our tokens share for the service's. */
  protected override async validateClaims(claims: Claims): Promise<boolean> {
    const { iss, exp, azp, aud } = claims;
    const slash = this.#kind.mayEndWithSlash ? "/" : "";
    if (iss !== this.#issuer && iss !== this.#issuer + slash) return super.validateClaims(claims);
    const { client_id, audience } = this.#fields;
    const wanted = Object.entries({ ...this.#kind.claims(this.#fields), ...this.#kind.accessClaims });
    return (
      Number(exp) * 1000 > this.context.now() &&
      azp === client_id &&
      (!audience || [aud].flat().includes(audience)) &&
      wanted.every(([name, value]) => claims[name] === value)
    );
  }

  async #demand(wanted: Readonly<Record<string, unknown>>, claims: Claims): Promise<void> {
    for (const [name, value] of Object.entries(wanted))
      if (claims[name] !== value) throw this.#refusal(name, claims[name]);
  }

  #refusal(name: string, value: unknown): AuthError {
    return new AuthError("provider_error", `${this.#issuer}: the ${name} of its ID token is ${JSON.stringify(value)}`);
  }
}

function isOld({ at }: PendingSignIn, now: number): boolean {
  // A negative age means that the device's clock was set back.
  return now - at > longestAbsence || now < at;
}

/** Ties the ID token to the key that the session will be bound to. */
async function nonceOf({ pair, salt }: Pick<PendingSignIn, "pair" | "salt">): Promise<string> {
  const { crv, kty, x, y } = await crypto.subtle.exportKey("jwk", pair.publicKey);
  const thumbprint = await sha256(JSON.stringify({ crv, kty, x, y }));
  return sha256(`${thumbprint}.${salt}`);
}

function nameOf({ name, preferred_username, email, sub }: Claims): string {
  return String(name ?? preferred_username ?? email ?? sub);
}

function toAnswer({ access_token: token, expires_in, refresh_token, id_token }: ProviderTokens) {
  return {
    token,
    ...(expires_in && { expiresIn: Number(expires_in) }),
    ...(refresh_token && { refreshToken: refresh_token }),
    ...(id_token && { idToken: id_token }),
  };
}
