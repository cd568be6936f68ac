import { describe, expect, test } from "vitest";
import { discoveryUrlOf, isIssuerOf, issuerOf } from "./issuer.ts";

const a = (authority: string) => ({ type: "oidc_a" as const, fields: { authority, organization: "org_1" } });
const b = (authority: string, realm = "kenya") => ({ type: "oidc_b" as const, fields: { authority, realm } });

describe("the issuer of a provider", () => {
  test.each([
    [a("https://login.example.org"), "https://login.example.org"],
    [a("https://login.example.org/"), "https://login.example.org"],
    [b("https://sso.example.org"), "https://sso.example.org/realms/kenya"],
    [b("https://sso.example.org/"), "https://sso.example.org/realms/kenya"],
    [b("https://sso.example.org/auth"), "https://sso.example.org/auth/realms/kenya"],
    [b("https://sso.example.org/realms/kenya"), "https://sso.example.org/realms/kenya"],
    [b("https://sso.example.org/realms/kenya/"), "https://sso.example.org/realms/kenya"],
    [b("https://sso.example.org/realms/uganda"), "https://sso.example.org/realms/uganda/realms/kenya"],
    [b("https://sso.example.org", "a b/c"), "https://sso.example.org/realms/a%20b%2Fc"],
  ])("%j is %s", (adapter, issuer) => {
    expect(issuerOf(adapter)).toBe(issuer);
    expect(discoveryUrlOf(adapter)).toBe(`${issuer}/.well-known/openid-configuration`);
  });

  test("a hosted provider may call itself with one slash more, a realm may not", () => {
    expect(isIssuerOf(a("https://login.example.org"), "https://login.example.org/")).toBe(true);
    expect(isIssuerOf(a("https://login.example.org"), "https://login.example.org")).toBe(true);
    expect(isIssuerOf(b("https://sso.example.org"), "https://sso.example.org/realms/kenya")).toBe(true);
    expect(isIssuerOf(b("https://sso.example.org"), "https://sso.example.org/realms/kenya/")).toBe(false);
    for (const other of ["https://login.example.org//", "http://login.example.org", "https://login.example.org.evil"]) {
      expect(isIssuerOf(a("https://login.example.org"), other)).toBe(false);
    }
  });
});
