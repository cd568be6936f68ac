import { describe, expect, it } from "vitest";
import { Fault } from "../fault.ts";
import { normaliseHost, parseTenantSettings } from "./tenant-settings.ts";

const production = { loopbackHttp: false };
const development = { loopbackHttp: true };
const oidcA = { authority: "https://login.example.org", client_id: "app", organization: "org_1" };
const oidcB = { authority: "https://sso.example.org", client_id: "app", realm: "field" };

function refusal(input: unknown, rules = production): Fault {
  try {
    parseTenantSettings(input, rules);
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
  throw new Error("The settings were accepted.");
}

describe("retention", () => {
  it("is a number of days", () => {
    const retention = { disabledAfterDays: 365 };
    expect(parseTenantSettings({ retention }, production)).toMatchObject({ retention });
    for (const days of [0, 1.5, "365", 36_501, null]) {
      expect(refusal({ retention: { disabledAfterDays: days } }).field).toBe("retention.disabledAfterDays");
    }
    expect(refusal({ retention: { after: 1 } }).field).toBe("retention.after");
    expect(refusal({ retention: 365 }).field).toBe("retention");
  });
});

describe("settings are accepted", () => {
  it("empty", () => {
    expect(parseTenantSettings({}, production)).toEqual({ adapters: [], hosts: [], policy: {} });
  });

  it("in full, and become canonical", () => {
    const settings = parseTenantSettings(
      {
        adapters: [
          { type: "auth0", fields: oidcA },
          { type: "keycloak", fields: { ...oidcB, scope: "openid", session: "provider" } },
          { type: "otp", fields: { serverUrl: "https://id.example.org" } },
          { type: "id", fields: { serverUrl: "https://id.example.org" } },
        ],
        hosts: ["ID.Example.org", "id.example.org.", "bücher.example"],
        defaultCountry: "ke",
        policy: { sessions: { bound: { idle: 86_400 }, allowPlain: false }, password: { minLength: 20 } },
      },
      production,
    );
    expect(settings.adapters.map((adapter) => adapter.type)).toEqual(["oidc_a", "oidc_b", "otp", "id"]);
    expect(settings.hosts).toEqual(["id.example.org", "xn--bcher-kva.example"]);
    expect(settings.defaultCountry).toBe("KE");
    expect(settings.policy.sessions?.allowPlain).toBe(false);
  });

  it("with http to this machine, in development only", () => {
    for (const authority of ["http://localhost:9000", "http://127.0.0.1:9000", "http://[::1]:9000"]) {
      const input = { adapters: [{ type: "oidc_b", fields: { ...oidcB, authority } }] };
      expect(parseTenantSettings(input, development).adapters).toHaveLength(1);
      expect(refusal(input).message).toContain("https://");
    }
    const outside = { adapters: [{ type: "oidc_b", fields: { ...oidcB, authority: "http://sso.example.org" } }] };
    expect(refusal(outside, development).message).toContain("https://");
  });
});

const adapter = (type: unknown, fields: unknown) => ({ adapters: [{ type, fields }] });

describe("settings are refused, and the field is named", () => {
  it.each<[string, unknown, string]>([
    ["not an object", [], "settings"],
    ["an unknown setting", { adaptors: [] }, "adaptors"],
    ["adapters that are no list", { adapters: {} }, "adapters"],
    ["an unknown type", adapter("saml", {}), "adapters[0].type"],
    ["a type from the prototype", adapter("constructor", {}), "adapters[0].type"],
    ["an unknown part of an adapter", { adapters: [{ type: "otp", fields: {}, x: 1 }] }, "adapters[0].x"],
    [
      "a missing field",
      adapter("oidc_b", { authority: oidcB.authority, client_id: "app" }),
      "adapters[0].fields.realm",
    ],
    [
      "a missing organization",
      adapter("oidc_a", { authority: oidcA.authority, client_id: "a" }),
      "adapters[0].fields.organization",
    ],
    ["another type's field", adapter("oidc_a", { ...oidcA, realm: "x" }), "adapters[0].fields.realm"],
    ["a field that is no text", adapter("oidc_a", { ...oidcA, client_id: 7 }), "adapters[0].fields.client_id"],
    ["an empty field", adapter("oidc_a", { ...oidcA, client_id: " " }), "adapters[0].fields.client_id"],
    ["a secret", adapter("oidc_a", { ...oidcA, client_secret: "s3cret" }), "adapters[0].fields.client_secret"],
    ["no URL", adapter("oidc_a", { ...oidcA, authority: "login.example.org" }), "adapters[0].fields.authority"],
    [
      "a URL with a password",
      adapter("oidc_a", { ...oidcA, authority: "https://a:b@x.org" }),
      "adapters[0].fields.authority",
    ],
    ["script as a URL", adapter("otp", { serverUrl: "javascript:alert(1)" }), "adapters[0].fields.serverUrl"],
    [
      "one type twice",
      {
        adapters: [
          { type: "oidc_a", fields: oidcA },
          { type: "auth0", fields: oidcA },
        ],
      },
      "adapters[1].type",
    ],
    ["a host with a port", { hosts: ["id.example.org:8443"] }, "hosts[0]"],
    ["a host with a scheme", { hosts: ["https://id.example.org"] }, "hosts[0]"],
    ["a wildcard host", { hosts: ["a.org", "*.example.org"] }, "hosts[1]"],
    ["a country that is none", { defaultCountry: "ZZ" }, "defaultCountry"],
    ["a country by name", { defaultCountry: "Kenya" }, "defaultCountry"],
    ["an unknown policy", { policy: { sessions: { idle: 5 } } }, "policy.sessions.idle"],
    ["a number out of bounds", { policy: { tokens: { workerAccess: 5 } } }, "policy.tokens.workerAccess"],
    ["a short minimum", { policy: { password: { minLength: 8 } } }, "policy.password.minLength"],
    ["a number as text", { policy: { password: { minLength: "20" } } }, "policy.password.minLength"],
    ["a flag as text", { policy: { sessions: { allowPlain: "no" } } }, "policy.sessions.allowPlain"],
    [
      "idle over absolute",
      { policy: { sessions: { plain: { idle: 900, absolute: 600 } } } },
      "policy.sessions.plain.idle",
    ],
    ["a key of the prototype", JSON.parse('{"policy":{"__proto__":{}}}'), "policy.__proto__"],
  ])("%s", (_, input, field) => {
    const fault = refusal(input);
    expect(fault.code).toBe("invalid_request");
    expect(fault.field).toBe(field);
    expect(fault.message).toMatch(/^\S.*\.$/s);
    expect(fault.message).not.toContain("s3cret");
  });
});

describe("normaliseHost", () => {
  it("makes the spellings of a Host header one", () => {
    for (const host of ["id.example.org", "ID.EXAMPLE.ORG", "id.example.org:443", "id.example.org."]) {
      expect(normaliseHost(host)).toBe("id.example.org");
    }
    expect(normaliseHost("not a host")).toBe("");
  });
});
