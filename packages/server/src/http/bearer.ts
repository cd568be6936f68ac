import { Fault } from "../fault.ts";

const maxTokenLength = 8192;
const credentials = /^bearer +([A-Za-z0-9._~+/-]+=*) *$/i;

/** The token of an `Authorization: Bearer` header (RFC 6750); null where there is no such header. */
export function readBearer(authorization: string | undefined): string | null {
  if (authorization === undefined) return null;
  if (authorization.length > maxTokenLength + "Bearer ".length) {
    throw new Fault("invalid_token", { detail: "The Authorization header is longer than any token." });
  }
  const token = credentials.exec(authorization)?.[1];
  if (token === undefined)
    throw new Fault("invalid_token", { detail: "The Authorization header holds no Bearer token." });
  return token;
}

/** The `WWW-Authenticate` of a 401 (RFC 6750, 3): an error is named only to those who sent a token. */
export function challenge(tokenSent: boolean): string {
  return tokenSent ? 'Bearer error="invalid_token"' : "Bearer";
}
