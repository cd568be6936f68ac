import { generateKeyPairSync, type KeyObject, sign, type webcrypto } from "node:crypto";
import { CompactEncrypt, exportSPKI, importJWK } from "jose";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createKeyVault } from "../../src/tokens/key-vault.ts";
import { listKeys, loadSecretKey } from "../../src/tokens/keys.ts";
import { databases, type TestDatabase } from "../kit/databases.ts";
import { goodPassword, startNode, type TestNode } from "../kit/node.ts";
import { demandRefusal, demandWelcome } from "./every-check.ts";
import {
  base64url,
  compact,
  es256,
  hs256,
  type Members,
  openSigningKey,
  publicJwk,
  takeApart,
  unsigned,
} from "./forge.ts";

const [sqlite] = databases as [TestDatabase];

/** A forged token is refused before any database is asked, so one is enough; `living-tokens` has the rest on both. */
describe("JWT1: only a token of ours is a token", () => {
  let node: TestNode;
  let other: TestNode;
  let drop: (() => Promise<void>)[];
  let token: string;
  let ourKey: KeyObject;
  let kid: string;
  let header: Members;
  let claims: Record<string, unknown>;
  let parts: { header: string; payload: string; signature: string };
  const attacker = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const attackerRsa = generateKeyPairSync("rsa", { modulusLength: 2048 });

  const ours = (head: Members | string, body: Members | string) => compact(head, body, es256(ourKey));
  const theirs = (head: Members) => compact(head, claims, es256(attacker.privateKey));
  const now = () => Math.floor(Date.now() / 1000);
  const without = (name: string) => Object.fromEntries(Object.entries(claims).filter(([key]) => key !== name));

  async function start(): Promise<TestNode> {
    const database = await sqlite.fresh();
    const started = await startNode({ database: database.config });
    drop.push(started.close, database.drop);
    await started.addTenant("demo");
    await started.addWorker({ username: "amina" });
    return started;
  }

  beforeAll(async () => {
    drop = [];
    node = await start();
    other = await start();
    const login = await node.api.login({ username: "amina", password: goodPassword });
    token = login.body.token;
    ({ header, claims, parts } = takeApart(token));
    kid = String(header.kid);
    ourKey = await openSigningKey(node, kid);
  });
  afterAll(async () => {
    for (const end of drop) await end();
  });

  test("the forge works: what it makes of untouched parts is welcome", async () => {
    await demandWelcome(node, token, ours(header, claims), ours(header, { ...claims, jti: "another" }));
  });

  test.each(["none", "None", "NONE", "nOnE", ""])("no signature: alg %j", async (alg) => {
    await demandRefusal(
      node,
      compact({ ...header, alg }, claims, unsigned),
      compact({ alg, typ: "at+jwt" }, claims, unsigned),
      `${base64url(JSON.stringify({ ...header, alg }))}.${parts.payload}.${parts.signature}`,
    );
  });

  test("an empty, missing, cut, zero or foreign signature", async () => {
    const { header: h, payload: p, signature: s } = parts;
    const zeros = base64url(new Uint8Array(64));
    const bad = [`${h}.${p}.`, `${h}.${p}`, `${h}.${p}.${s.slice(0, -2)}`, `${h}.${p}.${zeros}`, `${h}..${s}`];
    bad.push(`.${p}.${s}`, "..", ".", `${h}.${p}.${s}.${s}`, `${h}.${p}.${base64url("x".repeat(64))}`);
    // The DER form of a good signature is not the form JWS asks for.
    bad.push(compact(header, claims, (input) => sign("sha256", input, ourKey)));
    await demandRefusal(node, ...bad);
    await demandRefusal(node, theirs(header));
  });

  test("our public key taken for a shared secret", async () => {
    const jwk = await publicJwk(node, kid);
    const spki = await exportSPKI((await importJWK(jwk, "ES256", { extractable: true })) as webcrypto.CryptoKey);
    const secrets = [spki, spki.trim(), `${spki}\n`, JSON.stringify(jwk), String(jwk.x), "", kid];
    await demandRefusal(
      node,
      ...secrets.map((secret) => compact({ ...header, alg: "HS256" }, claims, hs256(secret))),
      ...secrets.map((secret) => compact(header, claims, hs256(secret))),
    );
  });

  test.each(["RS256", "PS256", "RS512", "PS512", "ES384", "ES512", "EdDSA", "HS512", "es256"])(
    "another algorithm: %s",
    async (alg) => {
      const rsa = (input: Buffer) => sign("sha256", input, attackerRsa.privateKey);
      await demandRefusal(node, compact({ ...header, alg }, claims, rsa));
      await demandRefusal(node, ours({ ...header, alg }, claims));
    },
  );

  test.each<[string, unknown]>([
    ["JWT", "JWT"],
    ["dpop+jwt", "dpop+jwt"],
    ["id", "id+jwt"],
    ["refresh", "rt+jwt"],
    ["none", undefined],
    ["null", null],
    ["a number", 1],
    ["a list", ["at+jwt"]],
    ["empty", ""],
    ["spaced", "at+jwt "],
  ])("another type of token: typ %s", async (_, typ) => {
    await demandRefusal(node, ours({ ...header, typ }, claims));
  });

  test.each<[string, unknown]>([
    ["missing", undefined],
    ["unknown", "access-AAAAAAAAAAAA"],
    ["a path", "../../../../dev/null"],
    ["a file", "/proc/sys/kernel/randomize_va_space"],
    ["a statement", "x' UNION SELECT 'AA' --"],
    ["a property of every object", "__proto__"],
    ["a method", "constructor"],
    ["an address", "https://attacker.example/key"],
    ["a number", 0],
    ["null", null],
    ["a list", ["a"]],
    ["an object", { a: 1 }],
    ["NUL", "\0"],
    ["long", "k".repeat(4000)],
  ])("a kid that is %s", async (_, named) => {
    await demandRefusal(
      node,
      ours({ ...header, kid: named }, claims),
      theirs({ ...header, kid: named }),
      compact({ ...header, alg: "HS256", kid: named }, claims, hs256("")),
      compact({ ...header, alg: "HS256", kid: named }, claims, hs256("AA")),
    );
  });

  test("our own keys of another purpose, used with their real secrets", async () => {
    const { store, config } = node.app.services;
    const others = (await listKeys(store)).filter(({ purpose }) => purpose !== "access");
    expect(others.length).toBeGreaterThan(3);
    for (const { id, alg } of others) {
      const secret = await loadSecretKey(store, createKeyVault(config.secret), id);
      await demandRefusal(
        node,
        ours({ ...header, kid: id }, claims),
        compact({ ...header, alg: "HS256", kid: id }, claims, hs256(secret)),
        compact({ ...header, kid: id }, claims, hs256(secret)),
        compact({ ...header, alg, kid: id }, claims, hs256(secret)),
      );
    }
  });

  test("keys the token brings along, whoever signed it", async () => {
    const jwk = attacker.publicKey.export({ format: "jwk" });
    const carried: Members[] = [
      { jwk },
      { jwk: { ...jwk, kid } },
      { jku: `${node.url}/.well-known/jwks.json` },
      { jku: "https://attacker.example/jwks.json" },
      { x5u: "https://attacker.example/cert.pem" },
      { x5c: [attacker.publicKey.export({ format: "der", type: "spki" }).toString("base64")] },
      { x5t: "AAAA" },
      { "x5t#S256": "AAAA" },
    ];
    await demandRefusal(node, ...carried.map((extra) => theirs({ ...header, ...extra })));
    await demandRefusal(node, ...carried.map((extra) => theirs({ alg: "ES256", typ: "at+jwt", ...extra })));
    await demandRefusal(node, ...carried.map((extra) => ours({ ...header, ...extra }, claims)));
  });

  test("critical extensions, also those a library knows", async () => {
    const critical: Members[] = [
      { crit: ["exp"], exp: now() + 600 },
      { crit: ["b64"], b64: true },
      { crit: ["b64"], b64: false },
      { b64: false },
      { crit: [] },
      { crit: ["alg"] },
      { crit: "b64" },
      { crit: null },
      { crit: ["https://attacker.example/x"], "https://attacker.example/x": 1 },
    ];
    await demandRefusal(node, ...critical.map((extra) => ours({ ...header, ...extra }, claims)));
    const input = `${base64url(JSON.stringify({ ...header, crit: ["b64"], b64: false }))}.${JSON.stringify(claims)}`;
    await demandRefusal(node, `${input}.${base64url(es256(ourKey)(Buffer.from(input)))}`);
  });

  test("an encrypted token, a token in a token, and other wrappings", async () => {
    const encrypt = new CompactEncrypt(Buffer.from(token));
    const jwk = await publicJwk(node, kid);
    const jwe = await encrypt
      .setProtectedHeader({ alg: "ECDH-ES", enc: "A256GCM", kid, typ: "at+jwt", cty: "JWT" })
      .encrypt(await importJWK({ ...jwk, alg: "ECDH-ES" }, "ECDH-ES"));
    const flattened = { protected: parts.header, payload: parts.payload, signature: parts.signature };
    const wrapped = [
      jwe,
      `${jwe.split(".").slice(0, 4).join(".")}.`,
      ours({ ...header, cty: "JWT" }, base64url(token)),
    ];
    wrapped.push(ours({ ...header, cty: "JWT" }, claims), ours({ ...header, zip: "DEF" }, claims));
    wrapped.push(JSON.stringify(flattened), JSON.stringify({ ...flattened, signatures: [] }));
    await demandRefusal(node, ...wrapped);
  });

  test.each(["iss", "aud", "sub", "exp", "nbf", "iat", "jti", "sid", "tenantId", "scope", "amr", "acr"])(
    "a claim that is missing, or of another kind: %s",
    async (name) => {
      const values = [null, {}, true, [claims[name]], typeof claims[name] === "number" ? "9999999999" : 7];
      await demandRefusal(node, ours(header, without(name)));
      await demandRefusal(node, ...values.map((value) => ours(header, { ...claims, [name]: value })));
    },
  );

  test("another issuer, audience, tenant or session", async () => {
    const { url } = node;
    const wrong: Members[] = [
      { iss: other.url },
      { iss: `${url}/` },
      { iss: url.toUpperCase() },
      { iss: "" },
      { aud: other.url },
      { aud: `${url}/` },
      { aud: "" },
      { aud: [url] },
      { aud: [url, "https://elsewhere.example"] },
      { tenantId: "other" },
      { tenantId: "" },
      { tenantId: "DEMO" },
      { tenantId: "_" },
      { sid: "AAAAAAAAAAAAAAAAAAAAAA" },
      { sid: "" },
      { sid: "' OR 1=1 --" },
      { sub: "someone-else" },
      { entityId: 7 },
    ];
    await demandRefusal(node, ...wrong.map((change) => ours(header, { ...claims, ...change })));
  });

  test("times: expired, not yet valid, issued in the future, no number, no end", async () => {
    const wrong: Members[] = [
      { exp: now() - 1 },
      { exp: now() - 30, nbf: now() - 600, iat: now() - 600 },
      { exp: 0 },
      { exp: -1 },
      { nbf: now() + 90 },
      { iat: now() + 3600 },
      { iat: now() + 3600, nbf: now() - 10 },
      { exp: String(now() + 600) },
      { exp: "1e99" },
    ];
    await demandRefusal(node, ...wrong.map((change) => ours(header, { ...claims, ...change })));
    const text = JSON.stringify(claims);
    const odd = ["1e999", "-1e999", "NaN", "Infinity"];
    await demandRefusal(node, ...odd.map((exp) => ours(header, text.replace(/"exp":\d+/, `"exp":${exp}`))));
    await demandWelcome(node, ours(header, { ...claims, nbf: now() + 30 }));
  });

  test("a changed payload or header", async () => {
    const { signature } = parts;
    const changed = [
      { ...claims, scope: "admin" },
      { ...claims, tenantId: "other" },
      { ...claims, exp: now() + 9e6 },
    ];
    await demandRefusal(
      node,
      ...changed.map((payload) => `${parts.header}.${base64url(JSON.stringify(payload))}.${signature}`),
    );
    await demandRefusal(node, `${base64url(JSON.stringify({ ...header, x: 1 }))}.${parts.payload}.${signature}`);
    const flip = (text: string, at: number) =>
      `${text.slice(0, at)}${text[at] === "A" ? "B" : "A"}${text.slice(at + 1)}`;
    const dots = [token.indexOf("."), token.lastIndexOf(".")];
    const places = Array.from({ length: Math.floor(token.length / 29) }, (_, step) => step * 29);
    await demandRefusal(node, ...places.filter((at) => !dots.includes(at)).map((at) => flip(token, at)));
  });

  test("one token has one spelling", async () => {
    const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const last = alphabet.indexOf(token.at(-1) ?? "");
    // 64 bytes fill the last character only by two bits: a careless reader takes sixteen spellings for the same bytes.
    const spellings = Array.from({ length: 15 }, (_, bits) => alphabet[last ^ (bits + 1)]);
    await demandRefusal(node, ...spellings.map((end) => `${token.slice(0, -1)}${end}`));
    const bad = [`${token}=`, `${token}==`, `${token} `, ` ${token}`, `${token}\n`, `${token}\r\n`, `${token}\t`];
    bad.push(`\n${token}`, `${token}\u200b`, `${token}.`, `.${token}`, `${token},${token}`, `${token}#x`);
    bad.push(`Bearer ${token}`, `"${token}"`, token.replace(".", " ."), `${token.slice(0, -9)}\n${token.slice(-9)}`);
    const plainBase64 = token.replaceAll("-", "+").replaceAll("_", "/");
    bad.push(plainBase64 === token ? `${token}+` : plainBase64);
    await demandRefusal(node, ...bad);
  });

  test("members that are there twice, and other JSON that readers understand differently", async () => {
    const text = JSON.stringify(claims);
    const head = JSON.stringify(header);
    const bad = [
      ours(header, text.replace("{", '{"tenantId":"other",')),
      ours(header, text.replace(/}$/, `,"tenantId":"demo"}`)),
      ours(header, text.replace(/}$/, `,"\\u0065xp":${claims.exp}}`)),
      ours(head.replace("{", '{"alg":"none",'), text),
      ours(head.replace(/}$/, `,"kid":"${kid}"}`), text),
      ours(header, `${text} `),
      ours(header, `\n${text}`),
      ours(header, `\ufeff${text}`),
      ours(header, `[${text}]`),
      ours(header, `${text}${text}`),
      ours(header, ""),
      ours(header, "null"),
      ours(header, '"demo"'),
      ours("", text),
      ours("null", text),
      ours("[]", text),
    ];
    await demandRefusal(node, ...bad);
  });

  test("too long, empty, and no token at all", async () => {
    await demandRefusal(node, ...[8193, 9 * 1024, 12_000].map((size) => token.padEnd(size, "A")));
    await demandRefusal(node, ours(header, { ...claims, pad: "x".repeat(9000) }));
    const junk = ["", " ", "null", "undefined", "[object Object]", "🔑", "a.b.c", "é.é.é", "e30.e30.e30"];
    await demandRefusal(node, ...junk);
  });

  test("a token of another deployment, whatever it claims", async () => {
    const login = await other.api.login({ username: "amina", password: goodPassword });
    await demandRefusal(node, login.body.token);
    const foreign = takeApart(login.body.token);
    const theirKey = await openSigningKey(other, String(foreign.header.kid));
    await demandRefusal(node, compact(foreign.header, claims, es256(theirKey)));
    await demandRefusal(node, compact({ ...foreign.header, kid }, claims, es256(theirKey)));
    await demandWelcome(other, login.body.token);
  });

  test("no other thing we hand out works in a token's place", async () => {
    const { body } = await node.api.login({ username: "amina", password: goodPassword });
    const nonce = (await node.api.checkToken(token)).headers.get("dpop-nonce") ?? "";
    expect(nonce).not.toBe("");
    await demandRefusal(node, body.refreshToken, body.deviceToken, nonce, body.userId);
    for (const thing of [body.token, body.deviceToken, nonce]) {
      expect((await node.api.refresh(thing)).body.code).toMatch(/^invalid_(grant|request)$/);
    }
  });
});
