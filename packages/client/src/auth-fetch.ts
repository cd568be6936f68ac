import type { Engine } from "./engine.ts";
import { AuthError } from "./errors.ts";
import { checkUrl } from "./urls.ts";

const originOf = (url: string) => new URL(url).origin;

/** A `fetch` that adds the token, and tries once more with a renewed one when it is refused. */
export function createAuthFetch(engine: Engine, getToken: () => Promise<string | null>): typeof globalThis.fetch {
  const { server, settings, sessions, tokens } = engine;
  const trusted = settings.trustedOrigins.map((url, index) => originOf(checkUrl(`trustedOrigins[${index}]`, url)));
  trusted.push(originOf(server));

  return async (input, init) => {
    const target = input instanceof Request ? input : new URL(input, `${server}/`);
    // A redirect would carry the token to wherever it points.
    const request = new Request(target, { ...init, redirect: "error" });
    const origin = originOf(request.url);
    const send = (token: string) => {
      const attempt = request.clone();
      attempt.headers.set("Authorization", `Bearer ${token}`);
      return settings.fetch(attempt);
    };

    const token = await getToken();
    if (!token) throw new AuthError("not_signed_in", "Nobody is signed in.");
    const own = sessions.held?.server;
    if (!trusted.includes(origin) && !(own && originOf(own) === origin)) {
      throw new AuthError(
        "untrusted_origin",
        `The token is not sent to ${origin}: add it to trustedOrigins if it may be.`,
      );
    }
    const response = await send(token);
    if (response.status !== 401) return response;
    // Where no other token can be had, the caller gets the 401 itself.
    const other = await tokens.useInsteadOf(token).catch(() => null);
    return other && other !== token ? send(other) : response;
  };
}
