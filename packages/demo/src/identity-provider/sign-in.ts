import { createHash, randomBytes } from "node:crypto";

/** One sign-in at an identity provider as a browser would do it, for programs without one. */
export interface ProgramSignIn {
  readonly issuer: string;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly username: string;
  readonly password: string;
  readonly nonce?: string;
  readonly scope?: string;
  /** Other parameters of the authorization request: `organization`, `audience`. */
  readonly parameters?: Readonly<Record<string, string>>;
}

export interface ProviderTokens {
  readonly id_token: string;
  readonly access_token: string;
  readonly refresh_token?: string;
  readonly expires_in: number;
}

/** Signs a person in through the code flow, and gives what the token endpoint answers. */
export async function signInByProgram(signIn: ProgramSignIn): Promise<ProviderTokens> {
  const { issuer, clientId, redirectUri, username, password, scope = "openid profile email" } = signIn;
  const at = `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
  const metadata = (await (await fetch(at)).json()) as Record<"authorization_endpoint" | "token_endpoint", string>;
  const verifier = randomBytes(32).toString("base64url");
  const start = new URL(metadata.authorization_endpoint);
  start.search = new URLSearchParams({
    client_id: clientId,
    redirect_uri: redirectUri,
    response_type: "code",
    scope,
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
    ...(signIn.nonce && { nonce: signIn.nonce }),
    ...signIn.parameters,
  }).toString();

  const callback = new URL(await visitByProgram(start.href, { username, password, redirectUri }));
  const code = callback.searchParams.get("code");
  if (!code) throw new Error(`The provider answered ${callback.search}`);
  const body = { grant_type: "authorization_code", code, redirect_uri: redirectUri, client_id: clientId };
  const answer = await fetch(metadata.token_endpoint, {
    method: "POST",
    body: new URLSearchParams({ ...body, code_verifier: verifier }),
  });
  if (!answer.ok) throw new Error(`The token endpoint answered ${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as ProviderTokens;
}

/**
 * Goes to the provider as a person would: follows redirects with cookies, fills in the login form where it comes, and gives the
 * address at the application that the provider sends it to.
 */
export async function visitByProgram(
  start: string,
  { username, password, redirectUri }: Pick<ProgramSignIn, "username" | "password" | "redirectUri">,
): Promise<string> {
  const jar = new Map<string, string>();
  let url = new URL(start);
  for (let hops = 0; hops < 12; hops += 1) {
    const headers = { cookie: [...jar].map(([name, value]) => `${name}=${value}`).join("; ") };
    const isForm = url.pathname.includes("/login/");
    const form = new URLSearchParams({ username, password, action: "sign-in" });
    const response = await fetch(url, { ...(isForm && { method: "POST", body: form }), headers, redirect: "manual" });
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      jar.set(name, value);
    }
    const location = response.headers.get("location");
    if (!location) throw new Error(`${url} answered ${response.status}: ${await response.text()}`);
    url = new URL(location, url);
    if (url.href.startsWith(redirectUri)) return url.href;
  }
  throw new Error("The provider keeps redirecting.");
}
