import { parseEnv } from "node:util";
import { describe, expect, it } from "vitest";
import { configFileText, initEnvironment } from "./init-file.ts";

const answers = {
  baseUrl: "https://id.example.org",
  databaseUrl: "",
  tenant: "kenya",
  tenantName: "Kenya",
  admin: "amina",
  delivery: "",
};

describe("the configuration file", () => {
  it("holds a secret of its own, and leaves out what needs no line", () => {
    const { own } = initEnvironment({}, answers);
    expect(Object.keys(own)).toEqual(["FIELDGATE_BASE_URL", "FIELDGATE_SECRET", "FIELDGATE_DEFAULT_TENANT"]);
    expect(initEnvironment({}, answers).own.FIELDGATE_SECRET).not.toBe(own.FIELDGATE_SECRET);
    expect(parseEnv(configFileText(own))).toEqual(own);
  });

  it("leaves the secret to the environment where it is there", () => {
    const { own, all } = initEnvironment({ FIELDGATE_SECRET: "x", FIELDGATE_PORT: "1" }, answers);
    expect(own).not.toHaveProperty("FIELDGATE_SECRET");
    expect(all).toMatchObject({ FIELDGATE_SECRET: "x", FIELDGATE_PORT: "1", FIELDGATE_DEFAULT_TENANT: "kenya" });
  });

  it.each(["postgres://u:a#b@h/d", "postgres://u:it's@h/d", 'postgres://u:say"it"@h/d', "postgres://u:$HOME\\n@h/d"])(
    "keeps %s as it is",
    (databaseUrl) => {
      const { own } = initEnvironment({}, { ...answers, databaseUrl });
      expect(parseEnv(configFileText(own)).FIELDGATE_DATABASE_URL).toBe(databaseUrl);
    },
  );

  it("keeps the channels as they are", () => {
    const delivery = '[{"type":"smtp","url":"smtp://u:it%27s$@mail.example.org","from":"Cash <a@b.org>"}]';
    const { own } = initEnvironment({}, { ...answers, delivery });
    expect(parseEnv(configFileText(own)).FIELDGATE_DELIVERY).toBe(delivery);
  });

  it("refuses what it could not hold", () => {
    expect(() => configFileText({ FIELDGATE_DATABASE_URL: "a'b`c" })).toThrow("FIELDGATE_DATABASE_URL has characters");
  });
});
