import { routes } from "@fieldgate/contract";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { databases } from "../kit/databases.ts";
import { startNode } from "../kit/node.ts";
import { TestChannel } from "../kit/test-channel.ts";
import { LittleProvider, type Mood } from "./little-provider.ts";
import { Programme } from "./programme.ts";

// What a provider does to our fetches has nothing to do with the database.
const [sqlite] = databases;
if (!sqlite) throw new Error("There is no database.");
const database = sqlite;

describe("BE1: a provider that misbehaves harms nobody else", () => {
  let programme: Programme;
  let bad: LittleProvider;
  let count = 0;

  beforeAll(async () => {
    programme = await Programme.start(database);
  });
  afterAll(() => programme?.close());
  beforeEach(async () => {
    bad = await LittleProvider.start(programme.clock.now);
  });
  afterEach(() => bad.close());

  /** A tenant whose provider is the bad one; each has an issuer of its own, which nobody has asked yet. */
  async function addVictim(): Promise<{ tenantId: string; iss: string }> {
    count += 1;
    const tenantId = `victim-${count}`;
    await programme.node.addTenant(tenantId, programme.realm(tenantId, undefined, { authority: bad.url }));
    programme.clock.advance(2);
    return { tenantId, iss: `${bad.url}/realms/${tenantId}` };
  }

  async function tryIn(tenantId: string, iss: string) {
    const begun = await programme.begin();
    const idToken = await bad.sign({ ...programme.idClaims(tenantId, begun.nonce), iss });
    return programme.exchange(tenantId, idToken, { begun, type: "oidc_b" });
  }

  const bearerOf = (tenantId: string, iss: string) => bad.sign({ ...programme.accessClaims(tenantId), iss });

  test.each<Mood>(["away", "redirect", "huge", "not-json", "lie", "no-keys", "many-keys"])(
    "%s: a 503 that says when to come back, never a 401, for its own tenant alone",
    async (mood) => {
      const { tenantId, iss } = await addVictim();
      bad.mood = mood;
      const answer = await tryIn(tenantId, iss);
      expect([answer.status, answer.body.code]).toEqual([503, "provider_unavailable"]);
      expect(Number(answer.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
      const bearer = await programme.node.api.checkToken(await bearerOf(tenantId, iss));
      expect([bearer.status, bearer.body.code]).toEqual([503, "provider_unavailable"]);
      expect(bad.discoveries, "and the failure is remembered for a while").toBe(1);
      expect((await programme.signIn("north")).status).toBe(200);

      bad.mood = "well";
      programme.clock.advance(11);
      expect((await tryIn(tenantId, iss)).status).toBe(200);
    },
  );

  test.each<Mood>(["hang", "drip"])(
    "%s: over in five seconds, one fetch for all, others wait for nothing",
    async (mood) => {
      const { tenantId, iss } = await addVictim();
      bad.mood = mood;
      const start = performance.now();
      const hanging = Promise.all(Array.from({ length: 20 }, () => tryIn(tenantId, iss)));
      const tokens = await Promise.all(
        Array.from({ length: 120 }, (_, index) =>
          bad.sign({ ...programme.accessClaims(tenantId), iss, jti: `${index}` }),
        ),
      );
      const bearers = Promise.all(tokens.map((token) => programme.node.api.checkToken(token)));
      let ended = false;
      const all = Promise.all([hanging, bearers]).finally(() => {
        ended = true;
      });
      for (let other = 0; other < 5; other += 1) expect((await programme.signIn("north")).status).toBe(200);
      expect(ended, "others were served while these were waiting").toBe(false);
      for (const answer of (await all).flat()) expect(answer.status).toBe(503);
      expect(performance.now() - start).toBeLessThan(20_000);
      expect(bad.discoveries).toBe(1);
    },
  );

  test("unknown keys cost one fetch in thirty seconds, however many are named", async () => {
    const { tenantId, iss } = await addVictim();
    expect((await tryIn(tenantId, iss)).status).toBe(200);
    expect(bad.keyFetches).toBe(1);
    const forged = await Promise.all(
      Array.from({ length: 30 }, (_, index) =>
        bad.sign({ ...programme.accessClaims(tenantId), iss }, { header: { kid: `unknown-${index}` } }),
      ),
    );
    const answers = await Promise.all(forged.map((token) => programme.node.api.checkToken(token)));
    for (const answer of answers) expect(answer.body.code).toBe("invalid_token");
    expect(bad.keyFetches).toBe(2);
    programme.clock.advance(31);
    const [again] = forged;
    expect((await programme.node.api.checkToken(again ?? "")).body.code).toBe("invalid_token");
    expect(bad.keyFetches).toBe(3);
  });

  test("a new key is found at once, and the old one is good no more", async () => {
    const { tenantId, iss } = await addVictim();
    expect((await tryIn(tenantId, iss)).status).toBe(200);
    const old = await bearerOf(tenantId, iss);
    await bad.rotate("RS256");
    expect((await tryIn(tenantId, iss)).status).toBe(200);
    expect((await programme.node.api.checkToken(old)).body.code).toBe("invalid_token");
    await bad.rotate("EdDSA");
    programme.clock.advance(31);
    expect((await tryIn(tenantId, iss)).status).toBe(200);
  });

  test("while it is away its known keys are good, and an unknown one is a 503", async () => {
    const { tenantId, iss } = await addVictim();
    expect((await tryIn(tenantId, iss)).status).toBe(200);
    bad.mood = "away";
    programme.clock.advance(3600);
    expect((await tryIn(tenantId, iss)).status).toBe(200);
    expect((await programme.node.api.checkToken(await bearerOf(tenantId, iss))).status).toBe(200);
    await bad.rotate();
    programme.clock.advance(31);
    expect((await tryIn(tenantId, iss)).body.code).toBe("provider_unavailable");
    const bearer = await programme.node.api.checkToken(await bearerOf(tenantId, iss));
    expect([bearer.status, bearer.body.code]).toEqual([503, "provider_unavailable"]);
    bad.mood = "well";
    programme.clock.advance(31);
    expect((await tryIn(tenantId, iss)).status).toBe(200);
  });

  test("a hosted provider whose issuer ends with a slash has tokens that do", async () => {
    bad.slash = true;
    await programme.node.addTenant("slashed", programme.hosted("org_slashed", undefined, { authority: bad.url }));
    programme.clock.advance(2);
    const claims = { org_id: "org_slashed", typ: undefined };
    const exchange = async (iss: string) => {
      const begun = await programme.begin();
      const idToken = await bad.sign({ ...programme.idClaims("slashed", begun.nonce), ...claims, iss });
      return programme.exchange("slashed", idToken, { begun, type: "oidc_a" });
    };
    expect((await exchange(`${bad.url}/`)).status).toBe(200);
    expect((await exchange(bad.url)).body.code).toBe("invalid_token");
    expect((await exchange(`${bad.url}//`)).body.code).toBe("invalid_token");
    const { slash } = bad;
    expect(slash).toBe(true);
    // A realm never has one.
    const { tenantId, iss } = await addVictim();
    expect((await tryIn(tenantId, `${iss}/`)).body.code).toBe("provider_unavailable");
  });

  test("an issuer that nobody has is a 401, and nobody is asked", async () => {
    const token = await bad.sign({ ...programme.accessClaims("north"), iss: `${bad.url}/realms/unknown` });
    expect((await programme.node.api.checkToken(token)).body.code).toBe("invalid_token");
    expect(bad.discoveries).toBe(0);
  });
});

describe("BE1: a tenant's authority cannot reach inside the network", () => {
  test("in production, whatever it is called and however it is spelt", async () => {
    const inside = await LittleProvider.start();
    const fresh = await database.fresh();
    const baseUrl = "https://id.fieldgate.example";
    const node = await startNode({
      database: fresh.config,
      config: { mode: "production", baseUrl, audience: baseUrl, trustedProxies: ["127.0.0.1"] },
      channels: [new TestChannel("test", "sms")],
    });
    try {
      const { port } = new URL(inside.url);
      const hosts = ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "2130706433", "0x7f.1", "0", "10.0.0.7"];
      hosts.push("169.254.169.254", "[fd00::1]", "100.64.0.1", "192.168.1.1", "127.1", "[64:ff9b::7f00:1]");
      for (const [index, host] of hosts.entries()) {
        const tenantId = `t-${index}`;
        const fields = { authority: `https://${host}:${port}`, client_id: "app", realm: "r" };
        await node.addTenant(tenantId, { adapters: [{ type: "oidc_b", fields }] });
      }
      await new Promise((resolve) => setTimeout(resolve, 1100));
      const programme = await Programme.client(node, inside);
      for (const [index, host] of hosts.entries()) {
        const begun = await programme.begin();
        const iss = `https://${new URL(`https://${host}:${port}`).host}/realms/r`;
        const idToken = await inside.sign({ ...programme.idClaims("r", begun.nonce), iss });
        const answer = await node.api.call(routes.oidcExchange, {
          body: { type: "oidc_b", idToken, salt: begun.salt, tenantId: `t-${index}` },
          key: begun.key,
          headers: { "x-forwarded-proto": "https" },
        });
        expect([answer.status, answer.body.code], host).toEqual([503, "provider_unavailable"]);
      }
      expect(inside.discoveries).toBe(0);
    } finally {
      await node.close();
      await inside.close();
      await fresh.drop();
    }
  });
});
