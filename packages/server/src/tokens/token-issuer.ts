/** The `iss` that a token claims, before anything of it is proven; null where it is no JWT. Only to find who could prove it. */
export function issuerOfToken(token: string): string | null {
  const [, payload, signature, ...more] = token.split(".");
  if (!payload || signature === undefined || more.length > 0) return null;
  try {
    const claims = JSON.parse(Buffer.from(payload, "base64url").toString()) as { iss?: unknown } | null;
    return typeof claims?.iss === "string" ? claims.iss : null;
  } catch {
    // No JSON, so no JWT.
    return null;
  }
}
