import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { databases } from "../kit/databases.ts";
import { Programme } from "./programme.ts";

describe.each(databases)("an ID token becomes a session, on $name", (database) => {
  let programme: Programme;

  beforeAll(async () => {
    programme = await Programme.start(database);
  });
  afterAll(() => programme?.close());

  test.each([
    ["kenya", "oidc_a"],
    ["north", "oidc_b"],
  ])("in %s, through %s", async (tenantId, provider) => {
    const begun = await programme.begin();
    const answer = await programme.signIn(tenantId, {}, { begun });
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body).toMatchObject({ username: "Amina Otieno", tenantId, tokenType: "Bearer" });
    const { api } = programme.node;
    const { token, userId, refreshToken } = answer.body;
    expect((await api.checkToken(token)).body).toMatchObject({ valid: true, provider, subject: userId, tenantId });
    expect((await api.me(token)).body).toMatchObject({
      userId,
      kind: "field-worker",
      roles: ["field-worker"],
      provider,
    });

    expect((await api.refresh(refreshToken)).body.code).toBe("invalid_dpop_proof");
    const renewed = await api.refresh(refreshToken, { key: begun.key });
    expect(renewed.body).toMatchObject({ username: "Amina Otieno", userId });
    expect((await api.logout({ token: renewed.body.token })).status).toBe(204);
    expect((await api.checkToken(token)).body.code).toBe("session_revoked");
  });
});
