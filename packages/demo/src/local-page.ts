import type { App } from "@fieldgate/server";

const closed = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; connect-src 'none'";
const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** Serves something to whoever is at this machine. `style` is what its policy allows as styles. */
export function serveLocally(
  http: App["http"],
  path: string,
  type: string,
  body: () => string | Buffer,
  style = "'self'",
): void {
  const meter = http.httpSettings.metrics.requestMeter(path, "GET");
  const policy = `${closed}; style-src ${style}`;
  http.get(path, { config: { meter } }, (request, reply) => {
    // A page of another site whose name leads here must not read it.
    if (!loopback.test(request.hostname)) return reply.callNotFound();
    return reply.headers({ "content-type": type, "content-security-policy": policy }).send(body());
  });
}
