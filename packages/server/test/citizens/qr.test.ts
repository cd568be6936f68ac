import { generateKeyPairSync, type JsonWebKey, sign } from "node:crypto";
import { deflateSync } from "node:zlib";
import { type CitizenSession, type OwnSessions, type Problem, routes } from "@fieldgate/contract";
import { encode, Tag } from "cbor2";
import { decodeJwt } from "jose";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { issueCard, revokeCards } from "../../src/people/cards.ts";
import { addIssuer, endIssuer } from "../../src/people/qr-issuers.ts";
import { encodeBase45 } from "../../src/qr/base45.ts";
import { signedBytes } from "../../src/qr/verify-signature.ts";
import { createKeyVault } from "../../src/tokens/key-vault.ts";
import { databases } from "../kit/databases.ts";
import { goodPassword, startNode, type TestNode, testSecret } from "../kit/node.ts";

type Answer = CitizenSession & Problem;

describe.each(databases)("QR cards on $name", ({ fresh }) => {
  let node: TestNode;
  let drop: () => Promise<void>;
  const vault = createKeyVault(testSecret);
  const issuerKey = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const iss = "https://id.example.org";

  beforeAll(async () => {
    const database = await fresh();
    drop = database.drop;
    node = await startNode({ database: database.config });
    await node.addTenant("demo", { defaultCountry: "KE" });
    await node.addTenant("other");
    await node.addWorker({ username: "amina" });
  });
  afterAll(async () => {
    await node?.close();
    await drop?.();
  });

  const scan = (qrPayload: string, options: { token?: string; assisted?: boolean; tenantId?: string } = {}) => {
    const { token, ...body } = options;
    return node.api.call<Answer>(routes.qrVerify, { body: { qrPayload, ...body }, ...(token && { token }) });
  };

  async function issue(beneficiaryId: string, tenantId = "demo") {
    const { dataKeys, store, clock } = node.app.services;
    const cipher = await dataKeys.cipher(tenantId);
    const context = { cipher, vault, baseUrl: node.url, now: clock.now() };
    return store.transaction((tx) => issueCard(tx, context, beneficiaryId, 3600));
  }

  function nationalCard(number: string, birth = "19840506"): string {
    const header = encode(new Map<number, unknown>([[1, -7]]));
    const identity = new Map<number, unknown>([
      [1, number],
      [8, birth],
    ]);
    const payload = encode(
      new Map<number, unknown>([
        [1, iss],
        [4, Math.floor(Date.now() / 1000) + 600],
        [6, Math.floor(Date.now() / 1000) - 60],
        [169, identity],
      ]),
    );
    const bytes = signedBytes({ protectedHeader: header, payload });
    const signature = new Uint8Array(sign("sha256", bytes, { key: issuerKey.privateKey, dsaEncoding: "ieee-p1363" }));
    return encodeBase45(deflateSync(encode(new Tag(18, [header, new Map(), payload, signature]))));
  }

  test("the programme's own card signs its holder in, until it is revoked", async () => {
    const id = await node.addPerson({ names: { given: "Juma" } });
    const card = await issue(id);
    const answer = await scan(card.text);
    expect(answer.status, answer.text).toBe(200);
    expect(decodeJwt(answer.body.token)).toMatchObject({ entityId: id, amr: ["qr"], acr: "low", tenantId: "demo" });
    expect(answer.body.expiresIn).toBe(900);
    expect((await scan(card.text, { tenantId: "other" })).body.code).toBe("qr_invalid");

    const { dataKeys, store } = node.app.services;
    const cipher = await dataKeys.cipher("demo");
    expect(await store.transaction((tx) => revokeCards(tx, cipher, { card: card.number }))).toBe(1);
    expect((await scan(card.text)).body.code).toBe("qr_invalid");
  });

  test("a national card opens its holder's record while its issuer is trusted and the dates agree", async () => {
    const { store } = node.app.services;
    const birth = { year: 1984, month: 5, day: 6, estimated: false };
    const id = await node.addPerson({ birth, nationalIds: [{ type: "nid", number: "AB-99" }] });
    expect((await scan(nationalCard("AB99"))).body.code).toBe("qr_invalid");
    const jwk = issuerKey.publicKey.export({ format: "jwk" }) as JsonWebKey;
    const entry = await store.transaction((tx) =>
      addIssuer(tx, "demo", { iss, kid: "", alg: "ES256", jwk, options: {}, notBefore: null, notAfter: null }),
    );
    const answer = await scan(nationalCard("ab 99"));
    expect(answer.body.username, answer.text).toBe(`self-service:${id}`);
    expect((await scan(nationalCard("AB99", "19840507"))).body.code).toBe("qr_invalid");
    expect((await scan(nationalCard("AB98"))).body.code).toBe("qr_invalid");
    await store.transaction((tx) => endIssuer(tx, "demo", entry.id, "compromised"));
    expect((await scan(nationalCard("AB99"))).body.code).toBe("qr_invalid");
  });

  test("with a worker's help the token names the worker and ends with their session", async () => {
    const id = await node.addPerson({ names: { given: "Pendo" } });
    const card = await issue(id);
    expect((await scan(card.text, { assisted: true })).body.code).toBe("forbidden");
    const worker = await node.api.login({ username: "amina", password: goodPassword });
    const answer = await scan(card.text, { assisted: true, token: worker.body.token });
    expect(decodeJwt(answer.body.token)).toMatchObject({ amr: ["qr", "operator"], act: { sub: worker.body.userId } });
    expect((await node.api.checkToken(answer.body.token)).status).toBe(200);

    // The device is the worker's: nothing of it stays with the citizen, and it reaches no other session of theirs.
    expect(answer.body.deviceToken).toBeUndefined();
    const { db } = node.app.services.store;
    const devices = () => db.selectFrom("devices").select("id").where("user_id", "=", id).execute();
    expect(await devices()).toEqual([]);
    const own = await scan(card.text);
    expect(own.body.deviceToken).toBeTypeOf("string");
    expect(await devices()).toHaveLength(1);
    const listed = await node.api.call<OwnSessions>(routes.ownSessions, { token: answer.body.token });
    expect(listed.body.sessions.map(({ current, assisted }) => [current, assisted])).toEqual([[true, true]]);
    const path = `/api/users/me/sessions/${decodeJwt(own.body.token).sid}`;
    const refusal = await node.api.call({ ...routes.endOwnSession, path }, { token: answer.body.token });
    expect(refusal.body.code).toBe("session_not_found");
    const seen = await node.api.call<OwnSessions>(routes.ownSessions, { token: own.body.token });
    expect(seen.body.sessions).toHaveLength(2);
    await node.api.logout({ token: worker.body.token });
    expect((await node.api.checkToken(answer.body.token)).body.code).toBe("session_revoked");
  });

  test.each([
    ["a word", "HELLO", "qr_malformed"],
    ["a health certificate", "HC1:NCF", "qr_unsupported"],
    ["spaces", "   ", "qr_malformed"],
    ["a very long text", "A".repeat(5000), "qr_malformed"],
  ])("%s is told apart", async (_name, text, code) => expect((await scan(text)).body.code).toBe(code));
});
