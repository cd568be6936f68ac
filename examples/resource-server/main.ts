import { createServer } from "node:http";
import { parseArgs } from "node:util";
import { createRemoteJWKSet, errors, jwtVerify } from "jose";

/**
 * Another service that accepts Fieldgate's tokens: it verifies them by the published keys, and asks nobody at each request.
 * A token lives for minutes; where a logout must count within seconds, ask check-token as well.
 *
 * npx node examples/resource-server/main.ts --issuer https://auth.example.org --tenant demo
 */
const { values } = parseArgs({
  options: {
    issuer: { type: "string", default: "http://localhost:3000" },
    audience: { type: "string" },
    tenant: { type: "string", default: "demo" },
    port: { type: "string", default: "4000" },
  },
});
const keys = createRemoteJWKSet(new URL(`${values.issuer}/.well-known/jwks.json`));

async function verify(token: string) {
  const { payload } = await jwtVerify(token, keys, {
    issuer: values.issuer,
    audience: values.audience ?? values.issuer,
    algorithms: ["ES256"],
    typ: "at+jwt",
    clockTolerance: 60,
  });
  if (payload.tenantId !== values.tenant)
    throw new errors.JWTClaimValidationFailed("another tenant", payload, "tenantId");
  return payload;
}

const server = createServer(async (request, response) => {
  const token = /^Bearer (\S+)$/.exec(request.headers.authorization ?? "")?.[1];
  try {
    const { sub, scope, entityId } = await verify(token ?? "");
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ sub, scope, entityId }));
  } catch (error) {
    // Keys that cannot be fetched say nothing about the token: 503, and nobody is signed out.
    const isRefused = error instanceof errors.JOSEError && !(error instanceof errors.JWKSTimeout);
    response.writeHead(isRefused ? 401 : 503, { "www-authenticate": "Bearer" }).end();
  }
});
server.listen(Number(values.port), "127.0.0.1", () => {
  const address = server.address();
  process.stdout.write(`listening on ${typeof address === "object" ? address?.port : address}\n`);
});
