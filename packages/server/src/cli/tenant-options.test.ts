import { describe, expect, it } from "vitest";
import { parseAdapterOption, withPolicyOption } from "./tenant-options.ts";

describe("--adapter", () => {
  it("is a type and its fields; values may hold : and =", () => {
    expect(
      parseAdapterOption("oidc_b:authority=https://sso.example.org:8443/x, client_id=a=b,realm=r", "https://me"),
    ).toEqual({
      type: "oidc_b",
      fields: { authority: "https://sso.example.org:8443/x", client_id: "a=b", realm: "r" },
    });
  });

  it("knows the service's own address", () => {
    expect(parseAdapterOption("otp", "https://me").fields).toEqual({ serverUrl: "https://me" });
    expect(parseAdapterOption("id:serverUrl=https://other", "https://me").fields).toEqual({
      serverUrl: "https://other",
    });
  });
});

describe("--policy", () => {
  it("sets a number or a flag and leaves the rest", () => {
    const policy = { password: { minLength: 20 } };
    expect(withPolicyOption(policy, "sessions.bound.idle=600")).toEqual({
      ...policy,
      sessions: { bound: { idle: 600 } },
    });
    expect(withPolicyOption(policy, "sessions.allowPlain=false")).toMatchObject({ sessions: { allowPlain: false } });
    expect(policy).toEqual({ password: { minLength: 20 } });
  });

  it("takes a number away, and the group that is empty then", () => {
    const policy = { password: { minLength: 20 }, sessions: { bound: { idle: 600 }, allowPlain: false } };
    expect(withPolicyOption(policy, "sessions.bound.idle=default")).toEqual({
      password: { minLength: 20 },
      sessions: { allowPlain: false },
    });
  });

  it("never reaches a prototype", () => {
    const made = withPolicyOption({}, "__proto__.polluted=1");
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
    expect(Object.keys(made)).toEqual(["__proto__"]);
  });
});
