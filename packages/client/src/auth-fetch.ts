import type { Engine } from "./engine.ts";
import { AuthError } from "./errors.ts";

/** A `fetch` that adds the token, and tries once more with a renewed one when it is refused. */
export function createAuthFetch(engine: Engine, getToken: () => Promise<string | null>): typeof globalThis.fetch {
  const { server, servers, settings, tokens } = engine;
  return async (input, init) => {
    const target = input instanceof Request ? input : new URL(input, `${server}/`);
    // A redirect would carry the token to wherever it points.
    const request = new Request(target, { ...init, redirect: "error" });
    const originOf = (url: string) => new URL(url).origin;
    const origin = originOf(request.url);
    if (![...servers.keys(), ...settings.trustedOrigins].some((url) => originOf(url) === origin)) {
      throw new AuthError("untrusted_origin", `${origin} is not in trustedOrigins.`);
    }
    const send = (token: string | null) => {
      if (!token) throw new AuthError("not_signed_in", "Nobody is signed in.");
      const attempt = request.clone();
      attempt.headers.set("Authorization", `Bearer ${token}`);
      return settings.fetch(attempt);
    };
    const token = await getToken();
    const response = await send(token);
    if (response.status !== 401) return response;
    // Where no other token can be had, the caller gets the 401 itself.
    const other = await tokens.useInsteadOf(token as string).catch(() => null);
    return other && other !== token ? send(other) : response;
  };
}
