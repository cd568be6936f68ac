import { type CitizenSession, type Problem, routes } from "@fieldgate/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { createDataKeys } from "../../src/people/data-keys.ts";
import { dropOldDataKeys } from "../../src/people/rotate-data-keys.ts";
import { createHandle, readHandle } from "../../src/store/handles.ts";
import { createKeyVault } from "../../src/tokens/key-vault.ts";
import { outcomeOf } from "../kit/command-line.ts";
import { databases } from "../kit/databases.ts";
import { startNode, type TestNode } from "../kit/node.ts";
import { TestChannel } from "../kit/test-channel.ts";
import { manyPeople, Programme } from "./programme.ts";

type Answer = CitizenSession & Problem;

describe.each(databases)("rotating the keys of personal data on $name", (database) => {
  let programme: Programme;
  let node: TestNode;
  const sms = new TestChannel("sms", "sms");
  beforeAll(async () => {
    programme = await Programme.open(database);
    node = await startNode({ database: programme.config, channels: [sms] });
    programme.write("people.csv", manyPeople(400));
    await programme.import(["people.csv"]);
  });
  afterAll(async () => {
    await node?.close();
    await programme?.close();
  });

  const signInWithId = (n: number) => {
    const body = {
      idNumber: String(1_000_000 + n),
      dateOfBirth: `19${50 + (n % 40)}-05-${String(1 + (n % 28)).padStart(2, "0")}`,
    };
    return node.api.call<Answer>(routes.idVerify, { body: { ...body, tenantId: "demo" } });
  };
  const versions = async () => (await programme.dataKeys.versions("demo")).map(({ version }) => version);

  test("nobody notices: sign-ins, codes, cards and imports go on, and then only the new keys are there", async () => {
    const { cards } = await programme.line.jsonHere<{ cards: { number: string }[] }>(["card", "issue", "P-1"]);
    const before = await programme.store.db.selectFrom("cards").select(["lookup"]).executeTakeFirstOrThrow();
    const child = programme.line.spawn(["keys", "rotate", "--data", "--json"]);
    const ended = outcomeOf(child);
    let done = false;
    void ended.then(() => {
      done = true;
    });
    let count = 0;
    const refused: string[] = [];
    const note = (answer: { status: number; text: string }) => {
      count += 1;
      if (answer.status !== 200) refused.push(answer.text);
    };
    const withIds = async () => {
      for (let n = 0; !done; n = (n + 1) % 400) note(await signInWithId(n));
    };
    const withCodes = async () => {
      for (let n = 0; !done && n < 20; n += 1) {
        const recipient = `+2547${10_000_200 + n}`;
        note(await node.api.call<Answer>(routes.otpRequest, { body: { recipient } }));
        const code = await sms.codeFor(recipient);
        note(await node.api.call<Answer>(routes.otpVerify, { body: { recipient, code } }));
      }
    };
    const withImports = async () => {
      for (let n = 0; !done; n += 1) {
        programme.write("meanwhile.csv", [
          "external_id,given_name,language",
          `P-9,Given9,${n % 2 ? "sw" : "en"}`,
          `NEW-${n},New,`,
        ]);
        const answer = await programme.import(["meanwhile.csv"]);
        if (answer.rejected > 0 || answer.added !== 1 || answer.changed !== 1) refused.push(JSON.stringify(answer));
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
    };
    await Promise.all([withIds(), withCodes(), withImports()]);
    const { code, stdout, stderr } = await ended;
    expect(code, stderr).toBe(0);
    expect(refused).toEqual([]);
    expect(count).toBeGreaterThan(30);
    const answer = JSON.parse(stdout);
    expect(answer).toMatchObject({ tenantId: "demo", version: 2, resumed: false, cards: 1 });
    expect(answer.people).toBeGreaterThanOrEqual(400);

    // Messages that were on their way may need the old keys a little longer.
    await expect.poll(() => dropOldDataKeys(programme.store, programme.dataKeys, "demo"), { timeout: 5000 }).toBe(true);
    expect(await versions()).toEqual([2]);
    const rows = await programme.store.db.selectFrom("beneficiaries").select(["key_version", "sealed_names"]).execute();
    expect(rows.every((row) => row.key_version === 2 && row.sealed_names.startsWith("2."))).toBe(true);
    const identifiers = await programme.store.db.selectFrom("identifiers").select("sealed_value").execute();
    expect(identifiers.every((row) => row.sealed_value.startsWith("2."))).toBe(true);
    const card = await programme.store.db.selectFrom("cards").selectAll().executeTakeFirstOrThrow();
    expect(card.lookup).not.toBe(before.lookup);
    const cipher = await programme.cipher();
    expect(card.lookup).toBe(cipher.index("card", cards[0]?.number ?? ""));
    expect((await signInWithId(5)).status).toBe(200);
    expect(await programme.person("P-9")).toMatchObject({ names: { given: "Given9" } });
    expect(await programme.events("data_keys.rotated")).toMatchObject([{ data: { version: 2, cards: 1 } }]);
  });

  test("stopped half-way it is finished by the next run; old keys stay while a handle needs them", async () => {
    // A version that was made, and a handle that is sealed under the one before.
    const handle = await programme.store.transaction(async (tx) =>
      createHandle(tx, await programme.cipher(), "selection", { candidates: ["x"] }, 600),
    );
    await programme.dataKeys.addVersion("demo", 3);
    await programme.store.db
      .updateTable("tenant_keys")
      .set({ created_at: Date.now() - 60_000 })
      .where("version", "=", 3)
      .execute();
    await new Promise((resolve) => setTimeout(resolve, 1100));
    // One person is there already, as after a crash.
    await programme.import(["-"], "external_id,language\nP-3,sw\n");
    const first = await programme.line.jsonHere(["keys", "rotate", "--data", "--tenant", "demo"]);
    expect(first).toMatchObject({ version: 3, resumed: true, oldKeysDropped: false });
    expect(first.people).toBe((await programme.everyone()).length - 1);
    expect(await versions()).toEqual([3, 2]);
    expect(await readHandle(programme.store, await programme.cipher(), "selection", handle)).toEqual({
      candidates: ["x"],
    });
    await programme.store.db.updateTable("handles").set({ expires_at: 1 }).execute();
    expect(await dropOldDataKeys(programme.store, programme.dataKeys, "demo")).toBe(true);
    expect(await versions()).toEqual([3]);
    expect((await signInWithId(6)).status).toBe(200);
  });

  test("secret rotate wraps the tenants' keys and those of cards too", async () => {
    const { keys, file } = await programme.line.jsonHere<{ keys: number; file: string }>([
      "secret",
      "rotate",
      "--generate",
      "new",
    ]);
    const count = async (table: "keys" | "tenant_keys") =>
      (await programme.store.db.selectFrom(table).select("id").execute()).length;
    expect(keys).toBe((await count("keys")) + (await count("tenant_keys")) + 1);
    const secret = Buffer.from(programme.read("new").trim(), "base64");
    expect(file).toBe(programme.path("new"));
    const vault = createKeyVault(secret);
    const cipher = await createDataKeys(programme.store, vault, systemClock).cipher("demo");
    expect(cipher.version).toBe(3);
    const line = ["beneficiary", "show", "P-5", "--reveal", "--json"];
    const shown = await programme.line.runHere(line, { env: { FIELDGATE_SECRET: programme.read("new").trim() } });
    expect(JSON.parse(shown.stdout)).toMatchObject([{ names: { given: "Given5" } }]);
    const issued = await programme.line.runHere(["card", "issue", "P-2"], {
      env: { FIELDGATE_SECRET: programme.read("new").trim() },
    });
    expect(issued.code, issued.stderr).toBe(0);
    expect(await programme.line.runHere(line)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("another secret"),
    });
    // A node that still has the old secret must not make keys that the others could not open.
    const stale = createDataKeys(programme.store, createKeyVault(Buffer.alloc(32, "old secret ")), systemClock);
    await expect(stale.cipher("another-tenant")).rejects.toThrow(/another deployment secret/);
  });

  test("what does not go together is told", async () => {
    const run = (...args: string[]) => programme.line.runHere(["keys", "rotate", ...args]);
    expect(await run("--data", "--purpose", "access")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--data rotates"),
    });
    expect(await run("--tenant", "demo")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--tenant is for --data"),
    });
  });
});
