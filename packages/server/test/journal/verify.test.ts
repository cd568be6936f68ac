import { generateKeyPairSync, randomBytes } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { sql } from "kysely";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { chainHash, genesisHead } from "../../src/journal/chain.ts";
import { signCheckpoint } from "../../src/journal/checkpoint.ts";
import { collectFindings } from "../../src/journal/finding.ts";
import { measureFiles, readKeptCheckpoints } from "../../src/journal/kept-checkpoints.ts";
import { pointOf, trustDatabaseKeys } from "../../src/journal/key-trust.ts";
import { sealBatch } from "../../src/journal/seal.ts";
import { sealerLease } from "../../src/journal/sealer.ts";
import { createKeyVault } from "../../src/tokens/key-vault.ts";
import { databases } from "../kit/databases.ts";
import { errorsOf, insertEvents, type JournalKit, openJournalKit } from "./journal-kit.ts";

/** Changes a value by as little as possible. */
function nudge(value: string | number | null, at: number): string | number {
  if (value === null) return "";
  if (typeof value === "number") return at % 2 === 0 ? value + 1 : value - 1;
  if (value === "") return "x";
  const index = at % value.length;
  const code = value.charCodeAt(index);
  return value.slice(0, index) + String.fromCharCode(code === 0x7e ? 0x21 : code + 1) + value.slice(index + 1);
}

describe.each(databases)("journal verify on $name", (database) => {
  describe("finds each change of a single column", () => {
    let kit: JournalKit;
    beforeAll(async () => {
      kit = await openJournalKit(database);
      await insertEvents(kit.store, "north", 25);
      await insertEvents(kit.store, "south", 5);
      await kit.seal();
    });
    afterAll(() => kit.close());

    const columns = ["id", "tenant_id", "at", "type", "subject", "session_id", "data", "seq", "hash"] as const;

    it("of any event", { timeout: 60_000 }, async () => {
      const rows = await kit.store.db.selectFrom("journal_events").selectAll().where("seq", "is not", null).execute();
      expect(errorsOf(await kit.verify())).toEqual([]);
      const attempt = fc.asyncProperty(
        fc.constantFrom(...rows),
        fc.constantFrom(...columns),
        fc.nat(200),
        fc.boolean(),
        async (row, column, at, toNull) => {
          const isNullable = !["id", "tenant_id", "at", "type", "data"].includes(column) && row[column] !== null;
          const value = toNull && isNullable ? null : nudge(row[column], at);
          // Places are unique in the database; a taken one is tried in the test of reordered events.
          const isTaken = column === "seq" && rows.some((o) => o.tenant_id === row.tenant_id && o.seq === value);
          const change = async (to: typeof value, id: string) => {
            await sql`UPDATE journal_events SET ${sql.ref(column)} = ${to} WHERE id = ${id}`.execute(kit.store.db);
          };
          if (isTaken) return;
          await change(value, row.id);
          try {
            const found = await kit.verify();
            expect(found.ok, `${column} of event ${row.tenant_id}/${row.seq} from ${row[column]} to ${value}`).toBe(
              false,
            );
          } finally {
            await change(row[column], column === "id" ? String(value) : row.id);
          }
        },
      );
      await fc.assert(attempt, { numRuns: database.name === "sqlite" ? 150 : 60 });
      expect(errorsOf(await kit.verify())).toEqual([]);
    });

    it("of any checkpoint and any head", async () => {
      for (const [table, columns] of [
        ["journal_checkpoints", ["tenant_id", "seq", "hash", "at", "key_id", "signature"]],
        ["journal_heads", ["tenant_id", "seq", "hash"]],
      ] as const) {
        const key = sql`tenant_id = 'south'`;
        for (const column of columns) {
          const read = await sql<
            Record<string, string | number>
          >`SELECT * FROM ${sql.table(table)} WHERE ${key}`.execute(kit.store.db);
          const original = read.rows[0]?.[column] ?? null;
          const positions = column === "signature" ? [0, 60, 150, String(original).length - 1] : [3];
          for (const position of positions) {
            const value = nudge(original, position);
            const change = async (to: string | number | null, where: typeof key) => {
              const table_ = sql.table(table);
              await sql`UPDATE ${table_} SET ${sql.ref(column)} = ${to} WHERE ${where}`.execute(kit.store.db);
            };
            await change(value, key);
            expect((await kit.verify()).ok, `${table}.${column} at ${position}`).toBe(false);
            await change(original, column === "tenant_id" ? sql`tenant_id = ${value}` : key);
          }
        }
      }
      expect(errorsOf(await kit.verify())).toEqual([]);
    });

    it("even to a number too large to be read", async () => {
      for (const [column, table] of [
        ["at", "journal_events"],
        ["seq", "journal_events"],
        ["seq", "journal_heads"],
        ["at", "journal_checkpoints"],
        ["seq", "journal_checkpoints"],
      ] as const) {
        const [table_, column_] = [sql.table(table), sql.ref(column)];
        const where = table === "journal_events" ? sql`tenant_id = 'south' AND seq = 3` : sql`tenant_id = 'south'`;
        const read = await sql<{ value: number }>`SELECT ${column_} AS value FROM ${table_} WHERE ${where}`.execute(
          kit.store.db,
        );
        await sql`UPDATE ${table_} SET ${column_} = 4611686018427387905 WHERE ${where}`.execute(kit.store.db);
        expect((await kit.verify()).ok, `${table}.${column}`).toBe(false);
        const value = read.rows[0]?.value;
        const now = column === "seq" ? sql`tenant_id = 'south' AND seq > 1000000` : where;
        await sql`UPDATE ${table_} SET ${column_} = ${value} WHERE ${now}`.execute(kit.store.db);
      }
      expect(errorsOf(await kit.verify())).toEqual([]);
    });
  });

  describe("finds what was done to the whole", () => {
    let kit: JournalKit;
    beforeEach(async () => {
      kit = await openJournalKit(database);
      await insertEvents(kit.store, "north", 6);
      await kit.seal();
      await insertEvents(kit.store, "north", 4);
      await kit.seal();
    });
    afterEach(() => kit.close());

    const remove = (seq: number) =>
      kit.store.db.deleteFrom("journal_events").where("tenant_id", "=", "north").where("seq", "=", seq).execute();
    const events = () =>
      kit.store.db.selectFrom("journal_events").selectAll().where("tenant_id", "=", "north").orderBy("seq").execute();

    it.each([
      [1, ["removed north 1"]],
      [4, ["removed north 4"]],
      [6, ["removed north 6", "checkpoint north 6"]],
      [10, ["checkpoint north 10", "removed north 10"]],
    ])("removed event %i", async (seq, expected) => {
      await remove(seq);
      expect(errorsOf(await kit.verify()).toSorted()).toEqual(expected.toSorted());
    });

    it("a whole journal that was removed", async () => {
      await kit.store.db.deleteFrom("journal_events").where("tenant_id", "=", "north").execute();
      expect(errorsOf(await kit.verify())).toContain("removed north 1");
      await kit.store.db.deleteFrom("journal_heads").where("tenant_id", "=", "north").execute();
      await kit.store.db.deleteFrom("journal_checkpoints").where("tenant_id", "=", "north").execute();
      expect(errorsOf(await kit.verify())).toEqual([]);
      expect(errorsOf(await kit.verify({ headFiles: [kit.headFile] }))).toEqual(["cut north 10"]);
    });

    it("two events that changed places", async () => {
      const swap = (from: number, to: number) =>
        kit.store.db
          .updateTable("journal_events")
          .set({ seq: to })
          .where("tenant_id", "=", "north")
          .where("seq", "=", from)
          .execute();
      await swap(3, 99);
      await swap(4, 3);
      await swap(99, 4);
      expect(errorsOf(await kit.verify())).toEqual(["changed north 3", "changed north 4", "changed north 5"]);
    });

    it("an event that was put in, also where the index no longer forbids it", async () => {
      await kit.store.db.schema.dropIndex("journal_events_by_seq").execute();
      const [first] = await events();
      if (!first) throw new Error("There are events.");
      await kit.store.db
        .insertInto("journal_events")
        .values({ ...first, id: "zz-forged", seq: 4 })
        .execute();
      expect(errorsOf(await kit.verify())).toEqual(["inserted north 4"]);
      await kit.store.db.updateTable("journal_events").set({ seq: 0 }).where("id", "=", "zz-forged").execute();
      expect(errorsOf(await kit.verify())).toEqual(["inserted north 0"]);
      await kit.store.db
        .updateTable("journal_events")
        .set({ tenant_id: "", seq: 1 })
        .where("id", "=", "zz-forged")
        .execute();
      expect(errorsOf(await kit.verify())).toEqual(["inserted - -"]);
    });

    it("a chain that was computed anew from a changed event, head and all", async () => {
      let link = genesisHead("north");
      for (const row of await events()) {
        const type = row.seq === 2 ? "login.succeeded." : row.type;
        const { id, at, subject, session_id: sessionId, data } = row;
        const event = { id, tenantId: "north", at, type, subject, sessionId, data, seq: link.seq + 1 };
        link = { seq: event.seq, hash: chainHash(link.hash, event) };
        await kit.store.db.updateTable("journal_events").set({ type, hash: link.hash }).where("id", "=", id).execute();
      }
      await kit.store.db.updateTable("journal_heads").set(link).where("tenant_id", "=", "north").execute();
      expect(errorsOf(await kit.verify())).toEqual(["checkpoint north 6", "checkpoint north 10"]);
      // Without its checkpoints the forged chain would be signed by the next sealer; what was kept still tells.
      await kit.store.db.deleteFrom("journal_checkpoints").where("tenant_id", "=", "north").execute();
      await kit.seal();
      expect(errorsOf(await kit.verify())).toEqual([]);
      expect(errorsOf(await kit.verify({ headFiles: [kit.headFile] }))).toEqual(
        expect.arrayContaining(["cut north 6", "cut north 10"]),
      );
    });

    it("a cut tail, by the checkpoints that were kept, be it all of them or one", async () => {
      await kit.store.db.deleteFrom("journal_events").where("tenant_id", "=", "north").where("seq", ">", 6).execute();
      await kit.store.db
        .deleteFrom("journal_checkpoints")
        .where("tenant_id", "=", "north")
        .where("seq", ">", 6)
        .execute();
      const last = (await events()).at(-1);
      const head = { seq: last?.seq ?? 0, hash: last?.hash ?? "" };
      await kit.store.db.updateTable("journal_heads").set(head).where("tenant_id", "=", "north").execute();

      const alone = await kit.verify();
      expect(errorsOf(alone)).toEqual([]);
      expect(alone.notChecked.join()).toContain("--head");
      expect(errorsOf(await kit.verify({ headFiles: [kit.headFile] }))).toEqual(["cut north 10"]);

      const lines = (await readFile(kit.headFile, "utf8")).trimEnd().split("\n");
      const one = join(kit.dataDir, "one.json");
      const [kept] = lines
        .map((line) => JSON.parse(line))
        .filter((line) => line.tenantId === "north" && line.seq === 10);
      await writeFile(one, JSON.stringify(kept, null, 2));
      expect(errorsOf(await kit.verify({ headFiles: [one] }))).toEqual(["cut north 10"]);
      // As a log collector keeps it.
      await writeFile(one, `{"level":30,"msg":"started"}\n${JSON.stringify({ level: 30, checkpoint: kept })}\n`);
      expect(errorsOf(await kit.verify({ headFiles: [one] }))).toEqual(["cut north 10"]);
    });

    it("a head file that was changed, belongs to another deployment, or is none", async () => {
      const text = await readFile(kit.headFile, "utf8");
      const copy = join(kit.dataDir, "copy.ndjson");
      await writeFile(copy, text.replace('"tenantId":"north","seq":10', '"tenantId":"north","seq":9'));
      expect(errorsOf(await kit.verify({ headFiles: [copy] }))).toEqual(["file north 9"]);
      await writeFile(copy, "nothing\n");
      expect(errorsOf(await kit.verify({ headFiles: [copy] }))).toEqual(["file - -"]);
      const other = await openJournalKit(database);
      await insertEvents(other.store, "north", 1);
      await other.seal();
      expect((await kit.verify({ headFiles: [other.headFile] })).ok).toBe(false);
      await other.close();
      // A crash may have cut the last line: a remark, no alarm.
      await writeFile(copy, text.slice(0, -20));
      expect(await kit.verify({ headFiles: [copy] })).toMatchObject({ ok: true, findings: { warnings: 1 } });
    });

    it("a removed checkpoint: the first, one in between, the last", async () => {
      await insertEvents(kit.store, "north", 1);
      await kit.seal();
      const rows = await kit.store.db
        .selectFrom("journal_checkpoints")
        .selectAll()
        .where("tenant_id", "=", "north")
        .execute();
      for (const [seq, expected] of [
        [6, "checkpoint_removed north 6"],
        [10, "checkpoint_removed north 10"],
        [11, "checkpoint_removed north 11"],
      ] as const) {
        await kit.store.db
          .deleteFrom("journal_checkpoints")
          .where("tenant_id", "=", "north")
          .where("seq", "=", seq)
          .execute();
        expect(errorsOf(await kit.verify())).toEqual([expected]);
        const row = rows.find((candidate) => candidate.seq === seq);
        if (row) await kit.store.db.insertInto("journal_checkpoints").values(row).execute();
      }
      expect(errorsOf(await kit.verify())).toEqual([]);
    });

    it("a missing head", async () => {
      await kit.store.db.deleteFrom("journal_heads").where("tenant_id", "=", "north").execute();
      expect(errorsOf(await kit.verify())).toEqual(["head north 10"]);
    });

    it("a key that someone with access to the database alone put in, or changed", async () => {
      const forged = generateKeyPairSync("ed25519");
      const publicJwk = forged.publicKey.export({ format: "jwk" });
      const sealed = createKeyVault(randomBytes(32)).seal("forged", "journal", randomBytes(48));
      const keys = await kit.store.db.selectFrom("keys").selectAll().where("purpose", "=", "journal").execute();
      const own = keys[0];
      if (!own) throw new Error("There is a journal key.");
      const [last] = (await events()).slice(-1);
      const facts = { tenantId: "north", seq: 10, hash: last?.hash ?? "", at: 1, previous: 6 };

      // Their own row, sealed under their own secret, or with a sealed half borrowed from ours.
      for (const half of [sealed, own.sealed]) {
        await kit.store.db
          .insertInto("keys")
          .values({ ...own, id: "forged", public_jwk: JSON.stringify(publicJwk), sealed: half })
          .execute();
        const { signature, keyId, at } = signCheckpoint("forged", forged.privateKey, facts);
        await kit.store.db
          .updateTable("journal_checkpoints")
          .set({ signature, key_id: keyId, at })
          .where("tenant_id", "=", "north")
          .where("seq", "=", 10)
          .execute();
        const found = errorsOf(await kit.verify());
        expect(found).toContain("key - -");
        expect(found).toContain("checkpoint north 10");
        await kit.store.db.deleteFrom("keys").where("id", "=", "forged").execute();
      }

      // Our row with a sealed half that is none.
      for (const half of ["", ".", `${kit.vault.secretId}.`, `${kit.vault.secretId}.AAAA`]) {
        await kit.store.db.updateTable("keys").set({ sealed: half }).where("id", "=", own.id).execute();
        expect(errorsOf(await kit.verify()), half).toContain("key - -");
      }
      await kit.store.db.updateTable("keys").set({ sealed: own.sealed }).where("id", "=", own.id).execute();

      // Our row with their public half.
      await kit.store.db
        .updateTable("keys")
        .set({ public_jwk: JSON.stringify(publicJwk) })
        .where("id", "=", own.id)
        .execute();
      const { signature, at } = signCheckpoint(own.id, forged.privateKey, facts);
      await kit.store.db
        .updateTable("journal_checkpoints")
        .set({ signature, key_id: own.id, at })
        .where("tenant_id", "=", "north")
        .where("seq", "=", 10)
        .execute();
      expect(errorsOf(await kit.verify())).toContain("key - -");
      // Without the secret, the keys that were kept elsewhere find it too.
      expect(errorsOf(await kit.verify({ vault: null, headFiles: [kit.headFile] }))).toContain("key - -");
    });

    it("says what it could not check without the secret, and checks it by a public key that is given", async () => {
      const alone = await kit.verify({ vault: null });
      expect(alone.ok).toBe(true);
      expect(alone.notChecked.join()).toContain("--public-key");
      const keys = await kit.store.db
        .selectFrom("keys")
        .select("public_jwk")
        .where("purpose", "=", "journal")
        .execute();
      const x = pointOf(JSON.parse(keys[0]?.public_jwk ?? "null")) ?? "";
      const given = await kit.verify({ vault: null, publicKeys: [{ keyId: null, x }] });
      expect(given.ok).toBe(true);
      expect(given.checked.join()).toContain("the ones given");
      const other = generateKeyPairSync("ed25519").publicKey.export({ format: "jwk" });
      const wrong = await kit.verify({ vault: null, publicKeys: [{ keyId: null, x: pointOf(other) ?? "" }] });
      expect(wrong.ok).toBe(false);
    });
  });

  describe("tells what is normal from what is not", () => {
    let kit: JournalKit;
    beforeEach(async () => {
      kit = await openJournalKit(database);
      await kit.seal();
      kit.clock.advance(60);
    });
    afterEach(() => kit.close());

    it("events that wait for the sealer: fine for five seconds, then worth a word", async () => {
      kit.clock.offset = 0;
      await insertEvents(kit.store, "north", 2);
      expect(await kit.verify()).toMatchObject({ ok: true, unsealed: 2, findings: { warnings: 0 } });
      kit.clock.advance(10);
      expect(await kit.verify()).toMatchObject({ ok: true, unsealed: 2, findings: { warnings: 1 } });
    });

    it("a tail without a checkpoint: fine beside a running sealer and after a crash, not after a good stop", async () => {
      await insertEvents(kit.store, "north", 2);
      await sealBatch(kit.store, 100);
      const lease = async (expiresIn: number) => {
        const expires_at = kit.clock.now() + expiresIn * 1000;
        await kit.store.db.deleteFrom("leases").execute();
        await kit.store.db.insertInto("leases").values({ name: sealerLease, holder: "x", expires_at }).execute();
      };
      expect(errorsOf(await kit.verify())).toEqual(["checkpoint_removed north 2"]);
      await lease(5);
      expect(await kit.verify()).toMatchObject({ ok: true, findings: { warnings: 0 } });
      kit.clock.advance(600);
      expect(await kit.verify()).toMatchObject({ ok: true, findings: { warnings: 1 } });
      await lease(5);
      expect(errorsOf(await kit.verify())).toEqual(["checkpoint_removed north 2"]);
      // A sealer that has much to catch up with signs when it is done.
      await insertEvents(kit.store, "south", 1);
      expect(await kit.verify()).toMatchObject({ ok: true, findings: { warnings: 2 } });
    });

    it("a head file that grows meanwhile, as that of a running service does", async () => {
      const before = await measureFiles([kit.headFile]);
      await insertEvents(kit.store, "north", 2);
      await kit.seal();
      const keys = await kit.store.snapshot((q) =>
        trustDatabaseKeys(q, { vault: kit.vault, given: [], onlyGiven: false }, collectFindings()),
      );
      const read = async (files: typeof before) => (await readKeptCheckpoints(files, keys, collectFindings())).count;
      expect(await read(before)).toBe(1);
      expect(await read(await measureFiles([kit.headFile]))).toBe(2);
    });

    it("one tenant alone", async () => {
      await insertEvents(kit.store, "north", 2);
      await insertEvents(kit.store, "south", 3);
      await kit.seal();
      await kit.store.db.deleteFrom("journal_events").where("tenant_id", "=", "south").where("seq", "=", 2).execute();
      expect(await kit.verify({ tenantId: "north", headFiles: [kit.headFile] })).toMatchObject({ ok: true, events: 2 });
      expect((await kit.verify({ tenantId: "south" })).ok).toBe(false);
    });
  });
});
