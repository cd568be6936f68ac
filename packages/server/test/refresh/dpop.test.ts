import { randomBytes, randomUUID } from "node:crypto";
import { type Route, routes } from "@fieldgate/contract";
import { base64url, CompactSign, exportJWK, generateKeyPair, SignJWT, UnsecuredJWT } from "jose";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { databases } from "../kit/databases.ts";
import { DpopKey } from "../kit/dpop-key.ts";
import { goodPassword } from "../kit/node.ts";
import { type Deployment, deploy, nodeAt, publicUrl, type SignedIn } from "../sessions/deployment.ts";

const htu = (route: Route) => `${publicUrl}${route.path}`;
const day = 24 * 60 * 60;

describe.each(databases)("proofs of possession on $name", (database) => {
  let deployment: Deployment;
  let session: SignedIn;
  let key: DpopKey;
  let nonce: string;

  beforeAll(async () => {
    deployment = await deploy(database, { nodes: 2 });
    await deployment.node.addTenant("bound-only", { policy: { sessions: { allowPlain: false } } });
    await deployment.node.addWorker({ username: "amina" });
    await deployment.node.addWorker({ username: "amina", tenantId: "bound-only" });
    session = await deployment.signIn({ username: "amina" });
    key = session.key as DpopKey;
  });
  afterAll(() => deployment?.close());
  beforeEach(async () => {
    const answer = await deployment.node.api.call(routes.health);
    nonce = answer.headers.get("dpop-nonce") ?? "";
    expect(nonce).not.toBe("");
  });

  const claims = (own: Record<string, unknown> = {}) => ({ htm: "POST", htu: htu(routes.refresh), nonce, ...own });
  const refreshWith = (proof: string | null, place = 0, refreshToken = session.refreshToken) =>
    nodeAt(deployment.nodes, place).api.refresh(refreshToken, { ...(proof !== null && { headers: { dpop: proof } }) });

  /** The proof is refused with this code, and neither the session nor its tokens are any different. */
  async function refused(proof: string | null, code: "invalid_dpop_proof" | "use_dpop_nonce"): Promise<void> {
    const before = await deployment.row(session);
    const answer = await refreshWith(proof);
    expect([answer.status, answer.body.code], answer.text).toEqual([400, code]);
    expect(answer.headers.get("dpop-nonce")).toMatch(/^[\w-]{43}$/);
    expect(await deployment.row(session)).toEqual(before);
  }

  /** Accepted: the session goes on with the next token. */
  async function accepted(proof: string, place = 0): Promise<void> {
    const answer = await refreshWith(proof, place);
    expect(answer.status, answer.text).toBe(200);
    session = { ...session, ...answer.body };
  }

  describe("the nonce", () => {
    test("is asked for when it is missing, empty, made up or another's", async () => {
      for (const wrong of [
        undefined,
        "",
        "x",
        randomBytes(32).toString("base64url"),
        `${nonce} `,
        nonce.toLowerCase(),
      ]) {
        await refused(await key.proof(claims({ nonce: wrong })), "use_dpop_nonce");
      }
    });

    test("that is no text makes a bad proof", async () => {
      for (const wrong of [null, 1, true, [nonce], { nonce }]) {
        await refused(await key.proof(claims({ nonce: wrong })), "invalid_dpop_proof");
      }
    });

    test("of one node is good on another", async () => {
      await accepted(await key.proof(claims()), 1);
    });

    test("comes with every answer, and the one from a refusal is good at once", async () => {
      const refusal = await refreshWith(await key.proof(claims({ nonce: "stale" })));
      await accepted(await key.proof(claims({ nonce: refusal.headers.get("dpop-nonce") })), 1);
      for (const route of [routes.jwks, routes.me, routes.login, routes.ready]) {
        const answer = await deployment.node.api.call(route);
        expect(answer.headers.get("dpop-nonce"), route.path).toMatch(/^[\w-]{43}$/);
      }
    });

    test("is good for five minutes at least, and stale within fifteen", async () => {
      deployment.clock.advance(299);
      await accepted(await key.proof(claims()));
      deployment.clock.advance(601);
      await refused(await key.proof(claims()), "use_dpop_nonce");
    });
  });

  describe("a proof", () => {
    test("is needed: without one a bound session yields nothing", async () => {
      await refused(null, "invalid_dpop_proof");
      await refused("", "invalid_dpop_proof");
    });

    const wrongClaims: Record<string, Record<string, unknown>> = {
      "another method": { htm: "GET" },
      "its method in small letters": { htm: "post" },
      "no method": { htm: undefined },
      "a list of methods": { htm: ["POST"] },
      "another host": { htu: "https://id.attacker.example/api/users/refresh" },
      "a host that begins the same": { htu: "https://id.fieldgate.example.attacker.example/api/users/refresh" },
      "the host as a user's name": { htu: "https://id.fieldgate.example@attacker.example/api/users/refresh" },
      "another port": { htu: "https://id.fieldgate.example:8443/api/users/refresh" },
      "another path": { htu: `${publicUrl}/api/users/login` },
      "a longer path": { htu: `${publicUrl}/api/users/refresh/` },
      "another spelling of the path": { htu: `${publicUrl}/api/users/Refresh` },
      "http in place of https": { htu: "http://id.fieldgate.example/api/users/refresh" },
      "a path alone": { htu: "/api/users/refresh" },
      "no address": { htu: undefined },
      "an address that is none": { htu: "https://" },
      "a list of addresses": { htu: [`${publicUrl}/api/users/refresh`] },
      "no jti": { jti: undefined },
      "an empty jti": { jti: "" },
      "a jti that is a number": { jti: 7 },
      "a jti without end": { jti: "j".repeat(257) },
      "no iat": { iat: undefined },
      "an iat that is text": { iat: "now" },
    };
    test.each(Object.entries(wrongClaims))("with %s is refused", async (_, wrong) => {
      await refused(await key.proof(claims(wrong)), "invalid_dpop_proof");
    });

    test("for the node's own address is as good as none, where clients know another", async () => {
      await refused(await key.proof(claims({ htu: "https://127.0.0.1/api/users/refresh" })), "invalid_dpop_proof");
    });

    test("has its address compared without query and fragment (RFC 9449, 4.3)", async () => {
      await accepted(await key.proof(claims({ htu: `${htu(routes.refresh)}?a=b#c` })));
    });

    const wrongHeaders: Record<string, () => Record<string, unknown>> = {
      "another typ": () => ({ typ: "jwt" }),
      "the typ of an access token": () => ({ typ: "at+jwt" }),
      "no typ": () => ({ typ: undefined }),
      "no key": () => ({ jwk: undefined }),
      "a key that is text": () => ({ jwk: "key" }),
      "a key that is null": () => ({ jwk: null }),
      "an empty key": () => ({ jwk: {} }),
      "half a key": () => ({ jwk: { ...key.jwk, y: undefined } }),
      "a point off the curve": () => ({ jwk: { ...key.jwk, y: key.jwk.x } }),
      "a key of another curve": () => ({ jwk: { ...key.jwk, crv: "P-384" } }),
      "an unknown crit": () => ({ crit: ["trust"], trust: "me" }),
      "a kid and no key": () => ({ jwk: undefined, kid: "access-1" }),
      "a key from elsewhere": () => ({ jwk: undefined, jku: "https://attacker.example/keys" }),
    };
    test.each(Object.entries(wrongHeaders))("with %s in its header is refused", async (_, header) => {
      const protectedHeader = { alg: "ES256", typ: "dpop+jwt", jwk: key.jwk, ...header() };
      const payload = { jti: randomUUID(), iat: 0, ...claims() };
      const proof = await sign(payload, protectedHeader, key);
      await refused(proof, "invalid_dpop_proof");
    });

    test("that shows its private key is refused", async () => {
      const jwk = await exportJWK(key.privateKey);
      expect(jwk.d).toBeDefined();
      await refused(await key.proof(claims(), { jwk }), "invalid_dpop_proof");
    });

    test("without a signature, or with a MAC, is refused", async () => {
      const payload = { jti: randomUUID(), iat: 0, ...claims() };
      const secret = randomBytes(32);
      const oct = { kty: "oct", k: secret.toString("base64url") };
      const [, body] = new UnsecuredJWT(payload).encode().split(".");
      const none = base64url.encode(JSON.stringify({ alg: "none", typ: "dpop+jwt", jwk: key.jwk }));
      await refused(`${none}.${body}.`, "invalid_dpop_proof");
      for (const jwk of [oct, key.jwk]) {
        const header = { alg: "HS256", typ: "dpop+jwt", jwk };
        await refused(await new SignJWT(payload).setProtectedHeader(header).sign(secret), "invalid_dpop_proof");
      }
    });

    test("by RSA or by a key we do not speak of is refused", async () => {
      for (const alg of ["RS256", "PS256", "ES384"]) {
        const pair = await generateKeyPair(alg, { extractable: true });
        const header = { alg, typ: "dpop+jwt", jwk: await exportJWK(pair.publicKey) };
        const proof = await new SignJWT({ jti: randomUUID(), iat: 0, ...claims() })
          .setProtectedHeader(header)
          .sign(pair.privateKey);
        if (proof.length < 4096) await refused(proof, "invalid_dpop_proof");
      }
    });

    test("with another's signature, or a byte changed, is refused", async () => {
      const other = await DpopKey.create();
      await refused(await other.proof(claims()), "invalid_dpop_proof");
      await refused(await other.proof(claims(), { jwk: key.jwk }), "invalid_dpop_proof");
      await refused(await key.proof(claims(), { jwk: other.jwk }), "invalid_dpop_proof");
      const [header, payload, signature] = (await key.proof(claims())).split(".");
      await refused(`${header}.${payload}.`, "invalid_dpop_proof");
      await refused(`${header}.${payload}.${signature?.split("").toReversed().join("")}`, "invalid_dpop_proof");
      const elsewhere = base64url.encode(JSON.stringify({ jti: "1", iat: 0, ...claims(), more: true }));
      await refused(`${header}.${elsewhere}.${signature}`, "invalid_dpop_proof");
    });

    test("that is no JWT at all is refused", async () => {
      const good = await key.proof(claims());
      const [header = "", payload = "", signature = ""] = good.split(".");
      const notJson = await new CompactSign(new TextEncoder().encode("not json"))
        .setProtectedHeader({ alg: "ES256", typ: "dpop+jwt", jwk: key.jwk })
        .sign(key.privateKey);
      const notObjects = await Promise.all(
        ["null", "1", '"text"', "[]", ""].map((text) =>
          new CompactSign(new TextEncoder().encode(text))
            .setProtectedHeader({ alg: "ES256", typ: "dpop+jwt", jwk: key.jwk })
            .sign(key.privateKey),
        ),
      );
      const notUtf8 = await new CompactSign(new Uint8Array([0x7b, 0xff, 0xfe, 0x7d]))
        .setProtectedHeader({ alg: "ES256", typ: "dpop+jwt", jwk: key.jwk })
        .sign(key.privateKey);
      const texts = ["x", ".", "..", "...", "a.b.c", "{}", `${header}.${payload}`, `${good}.`, `.${good}`, `"${good}"`];
      const encoded = [`${header}.!!!!.${signature}`, `${base64url.encode("null")}.${payload}.${signature}`];
      for (const bad of [...texts, ...encoded, notJson, notUtf8, ...notObjects])
        await refused(bad, "invalid_dpop_proof");
    });

    test("that is huge is refused", async () => {
      await refused(await key.proof(claims({ padding: "x".repeat(4096) })), "invalid_dpop_proof");
      await refused("a".repeat(8000), "invalid_dpop_proof");
    });

    test("is good once, on whichever node", async () => {
      const proof = await key.proof(claims());
      await accepted(proof);
      await refused(proof, "invalid_dpop_proof");
      for (const place of [0, 1]) {
        const again = await refreshWith(proof, place);
        expect([again.status, again.body.code]).toEqual([400, "invalid_dpop_proof"]);
      }
    });

    test("is good once, also when fifty come at the same moment", async () => {
      const proof = await key.proof(claims());
      const before = await deployment.row(session);
      const answers = await Promise.all(Array.from({ length: 50 }, (_, index) => refreshWith(proof, index % 2)));
      const good = answers.filter(({ status }) => status === 200);
      expect(good).toHaveLength(1);
      for (const { status, body } of answers) {
        if (status !== 200) expect([status, body.code]).toEqual([400, "invalid_dpop_proof"]);
      }
      expect((await deployment.row(session)).counter).toBe(before.counter + 1);
      session = { ...session, ...good[0]?.body };
    });

    test("that was answered with refresh_superseded is used up as well", async () => {
      const parent = session.refreshToken;
      await accepted(await key.proof(claims()));
      await accepted(await key.proof(claims()));
      const proof = await key.proof(claims());
      const superseded = await refreshWith(proof, 0, parent);
      expect([superseded.status, superseded.body.code]).toEqual([409, "refresh_superseded"]);
      await refused(proof, "invalid_dpop_proof");
    });

    test("may have a jti that another key has used", async () => {
      const jti = randomUUID();
      const other = await deployment.signIn({ username: "amina" });
      const theirs = await other.key?.proof(claims({ jti }));
      expect((await refreshWith(theirs ?? null, 0, other.refreshToken)).status).toBe(200);
      await accepted(await key.proof(claims({ jti })));
      await refused(await key.proof(claims({ jti })), "invalid_dpop_proof");
    });

    test("may come from a device whose clock is wrong", async () => {
      const now = Math.floor(Date.now() / 1000);
      for (const iat of [now - day, now + day, 0, now - 3650 * day]) await accepted(await key.proof(claims({ iat })));
    });
  });

  describe("at sign-in", () => {
    const login = (proof: string, body: Record<string, unknown> = {}) =>
      deployment.node.api.login({ username: "amina", password: goodPassword, ...body }, { headers: { dpop: proof } });
    const countSessions = async () => {
      const counted = deployment.store.db.selectFrom("sessions").select((eb) => eb.fn.countAll().as("count"));
      return Number((await counted.executeTakeFirstOrThrow()).count);
    };
    const good = (own: Record<string, unknown> = {}) => claims({ htu: htu(routes.login), ...own });

    test("a bad proof is a 400, and never a plain session", async () => {
      const before = await countSessions();
      const other = await DpopKey.create();
      const proofs = [
        "",
        " ",
        "x",
        "a.b.c",
        await key.proof(claims()),
        await key.proof(good({ htm: "GET" })),
        await key.proof(good(), { typ: "jwt" }),
        await other.proof(good(), { jwk: key.jwk }),
      ];
      for (const proof of proofs) {
        const answer = await login(proof);
        expect([answer.status, answer.body.code], proof).toEqual([400, "invalid_dpop_proof"]);
      }
      for (const wrong of [undefined, "stale"]) {
        const answer = await login(await key.proof(good({ nonce: wrong })));
        expect([answer.status, answer.body.code]).toEqual([400, "use_dpop_nonce"]);
        expect(answer.headers.get("dpop-nonce")).toBe(nonce);
      }
      expect(await countSessions()).toBe(before);
    });

    test("two DPoP headers are a 400", async () => {
      const headers = new Headers({ "content-type": "application/json" });
      for (const proof of [await key.proof(good()), await key.proof(good())]) headers.append("dpop", proof);
      const response = await fetch(`${deployment.node.url}${routes.login.path}`, {
        method: "POST",
        headers,
        body: JSON.stringify({ username: "amina", password: goodPassword }),
      });
      expect(response.status).toBe(400);
    });

    test("a proof signs in once", async () => {
      const proof = await key.proof(good());
      expect((await login(proof)).status).toBe(200);
      const before = await countSessions();
      const again = await login(proof);
      expect([again.status, again.body.code]).toEqual([400, "invalid_dpop_proof"]);
      expect(await countSessions()).toBe(before);
    });

    test("an Ed25519 key binds as well as a P-256 one", async () => {
      const ed = await DpopKey.create("EdDSA");
      for (const alg of ["EdDSA", "Ed25519"]) {
        const signedIn = await login(await ed.proof(good(), { alg }));
        expect(signedIn.status, signedIn.text).toBe(200);
        const { refreshToken } = signedIn.body;
        expect((await refreshWith(await key.proof(claims()), 0, refreshToken)).body.code).toBe("invalid_dpop_proof");
        expect((await refreshWith(await ed.proof(claims(), { alg }), 0, refreshToken)).status).toBe(200);
      }
    });

    test("a tenant that forbids plain sessions says so, whether the password is right or wrong", async () => {
      for (const password of [goodPassword, "not the password at all"]) {
        const plain = await deployment.node.api.login({ username: "amina", password, tenantId: "bound-only" });
        expect([plain.status, plain.body.code]).toEqual([400, "dpop_required"]);
      }
      const bound = await login(await key.proof(good()), { tenantId: "bound-only" });
      expect(bound.status, bound.text).toBe(200);
      expect(await deployment.row(bound.body)).toMatchObject({ tenant_id: "bound-only", jkt: expect.any(String) });
    });
  });
});

/** Signs whatever it is given, also what jose would refuse to write. */
async function sign(payload: unknown, header: Record<string, unknown>, { privateKey }: DpopKey): Promise<string> {
  const input = [header, payload].map((part) => base64url.encode(JSON.stringify(part))).join(".");
  const algorithm = { name: "ECDSA", hash: "SHA-256" };
  const signature = await crypto.subtle.sign(algorithm, privateKey, new TextEncoder().encode(input));
  return `${input}.${base64url.encode(new Uint8Array(signature))}`;
}
