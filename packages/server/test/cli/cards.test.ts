import { generateKeyPairSync } from "node:crypto";
import { readdirSync } from "node:fs";
import { type CitizenSession, type Problem, routes } from "@fieldgate/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Programme } from "../beneficiaries/programme.ts";
import { databases } from "../kit/databases.ts";
import { startNode, type TestNode } from "../kit/node.ts";

interface Card {
  readonly number: string;
  readonly person: string;
}

describe.each(databases)("the command line beside a node on $name", (database) => {
  let programme: Programme;
  let node: TestNode;
  beforeAll(async () => {
    programme = await Programme.open(database);
    node = await startNode({ database: programme.config });
    programme.write("people.csv", [
      "external_id,given_name,date_of_birth,phones,national_ids",
      "HH-1042,Zawadi,1990-04-12,+254700000142,nid:30000142",
      "HH-1043,Tatu,1991-05-13,+254700000143,nid:30000143",
    ]);
    await programme.import(["people.csv"]);
  });
  afterAll(async () => {
    await node?.close();
    await programme?.close();
  });

  const scan = (qrPayload: string) =>
    node.api.call<CitizenSession & Problem>(routes.qrVerify, { body: { qrPayload, tenantId: "demo" } });

  const issue = (...args: string[]) => programme.line.jsonHere<{ cards: Card[] }>(["card", "issue", ...args]);

  test("issues cards that sign their holders in, until one is revoked", async () => {
    const { cards } = await issue("HH-1042", "HH-1043", "--text", "--out", "cards");
    expect(cards.map(({ person }) => person)).toEqual(["HH-1042", "HH-1043"]);
    const files = readdirSync(programme.path("cards")).toSorted();
    expect(files).toEqual(
      cards.flatMap(({ number }) => ["png", "svg", "txt"].map((end) => `${number}.${end}`)).toSorted(),
    );
    for (const { number, person } of cards) {
      const answer = await scan(programme.read(`cards/${number}.txt`));
      expect(answer.status, answer.text).toBe(200);
      expect(answer.body.username).toBe(`self-service:${(await programme.person(person)).id}`);
    }

    const [lost, other] = cards.map(({ number }) => number);
    await programme.line.jsonHere(["card", "revoke", lost ?? ""]);
    expect((await scan(programme.read(`cards/${lost}.txt`))).body.code).toBe("qr_invalid");
    expect((await scan(programme.read(`cards/${other}.txt`))).status).toBe(200);
    await programme.line.jsonHere(["card", "revoke", "--person", "HH-1043"]);
    expect((await scan(programme.read(`cards/${other}.txt`))).body.code).toBe("qr_invalid");
  });

  test("writes what a code says only where it is asked to", async () => {
    const { cards } = await issue("HH-1042", "--out", "drawn");
    expect(readdirSync(programme.path("drawn")).toSorted()).toEqual([
      `${cards[0]?.number}.png`,
      `${cards[0]?.number}.svg`,
    ]);
  });

  test("prints a sheet with all cards, or with none", async () => {
    const { cards } = await programme.line.jsonHere<{ cards: Card[] }>(["card", "sheet", "HH-1042", "HH-1043"]);
    const sheet = programme.read("cards.html");
    for (const { number } of cards) expect(sheet).toContain(number);
    expect(sheet).not.toMatch(/Zawadi|Tatu|HH-104|30000142|<script/);

    const count = () => programme.store.db.selectFrom("cards").select("id").execute();
    const before = (await count()).length;
    const failed = await programme.line.runHere(["card", "sheet", "HH-1042", "HH-9999", "--out", "none.html"]);
    expect(failed.code).toBe(1);
    expect(failed.stderr).toContain('The tenant demo has no person "HH-9999".');
    expect(await count()).toHaveLength(before);
    expect(readdirSync(programme.line.cwd)).not.toContain("none.html");
    const wrong = await programme.line.runHere(["card", "issue", "HH-1042", "--days", "0"]);
    expect([wrong.code, wrong.stderr]).toEqual([
      2,
      expect.stringContaining("--days must be a whole number from 1 to 7300"),
    ]);
  });

  test("keeps the list of issuers", async () => {
    const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    programme.write("gov.pem", [String(publicKey.export({ type: "spki", format: "pem" }))]);
    const iss = "https://id.gov.example";
    const added = await programme.line.jsonHere<{ id: string }>(["issuer", "add", "--iss", iss, "--key", "gov.pem"]);
    const stateOf = async () => {
      const entries = await programme.line.jsonHere<{ id: string; iss: string; state: string }[]>(["issuer", "list"]);
      return entries.find(({ id }) => id === added.id);
    };
    expect(await stateOf()).toMatchObject({ iss, state: "active" });
    await programme.line.jsonHere(["issuer", "retire", added.id]);
    expect(await stateOf()).toMatchObject({ state: "retired" });
    await programme.line.jsonHere(["issuer", "compromise", added.id]);
    expect(await stateOf()).toMatchObject({ state: "compromised" });

    const privates = [
      privateKey.export({ type: "pkcs8", format: "pem" }),
      JSON.stringify(privateKey.export({ format: "jwk" })),
    ];
    for (const text of privates) {
      programme.write("private.key", [String(text)]);
      expect(await programme.line.runHere(["issuer", "add", "--iss", iss, "--key", "private.key"])).toMatchObject({
        code: 2,
        stderr: expect.stringContaining("private.key holds a private key"),
      });
    }
    programme.write("no.pem", ["-----BEGIN NONSENSE-----"]);
    const refused = await programme.line.runHere(["issuer", "add", "--iss", iss, "--key", "no.pem"]);
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toContain("no.pem");
  });
});
