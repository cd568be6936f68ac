import { generateKeyPairSync } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { exportJournal } from "../../src/journal/export.ts";
import { pointOf } from "../../src/journal/key-trust.ts";
import type { JournalFilter } from "../../src/journal/read-journal.ts";
import { verifyExport } from "../../src/journal/verify-export.ts";
import { databases } from "../kit/databases.ts";
import { errorsOf, eventsOfKeys, insertEvents, type JournalKit, openJournalKit } from "./journal-kit.ts";

describe.each(databases)("journal export on $name", (database) => {
  let kit: JournalKit;
  beforeAll(async () => {
    kit = await openJournalKit(database);
    await insertEvents(kit.store, "north", 12);
    await kit.seal();
    await insertEvents(kit.store, "north", 3);
    await insertEvents(kit.store, "south", 4);
    await kit.seal();
    await insertEvents(kit.store, "south", 1);
  });
  afterAll(() => kit.close());

  const lines = (filter: JournalFilter = {}) =>
    kit.store.snapshot(async (q) => {
      const found: string[] = [];
      for await (const line of exportJournal(q, filter)) found.push(line);
      return found;
    });
  const save = async (content: readonly string[]) => {
    const path = join(kit.dataDir, "export.ndjson");
    await writeFile(path, content.join(""));
    return path;
  };

  it("is verified by itself, all tenants or one", async () => {
    const all = await verifyExport(await save(await lines()), {});
    expect(errorsOf(all)).toEqual([]);
    expect(all).toMatchObject({ ok: true, tenants: 3, events: 12 + 3 + 4 + eventsOfKeys, checkpoints: 4 });
    expect(all.notChecked.join()).toContain("--public-key");

    const one = await lines({ tenantId: "north" });
    expect(JSON.parse(one[0] ?? "")).toMatchObject({
      format: "fieldgate-journal",
      tenantId: "north",
      verifiable: true,
    });
    expect(await verifyExport(await save(one), { headFiles: [kit.headFile] })).toMatchObject({
      ok: true,
      events: 15,
      checkpoints: 2,
      keptCheckpoints: 4,
    });
  });

  it("tells of any changed, removed, added or moved line", async () => {
    const whole = await lines();
    const isMoot = (index: number) => index === 0 || JSON.parse(whole[index] ?? "").record === "key";
    for (let index = 0; index < whole.length; index++) {
      if (isMoot(index)) continue;
      const without = whole.toSpliced(index, 1);
      expect((await verifyExport(await save(without), {})).ok, `without line ${index + 1}`).toBe(false);
      const twice = whole.toSpliced(index, 0, whole[index] ?? "");
      expect((await verifyExport(await save(twice), {})).ok, `line ${index + 1} twice`).toBe(false);
      const changed = whole.with(
        index,
        (whole[index] ?? "").replace(/\d(?=[^\d]*\}\n$)/, (d) => (d === "9" ? "8" : "9")),
      );
      if (changed[index] !== whole[index]) {
        expect((await verifyExport(await save(changed), {})).ok, `line ${index + 1} changed`).toBe(false);
      }
    }
  });

  it("is believed only as far as its keys are: those that were kept elsewhere decide", async () => {
    const path = await save(await lines());
    const keys = await kit.store.db.selectFrom("keys").select("public_jwk").where("purpose", "=", "journal").execute();
    const x = pointOf(JSON.parse(keys[0]?.public_jwk ?? "null")) ?? "";
    const proven = await verifyExport(path, { publicKeys: [{ keyId: null, x }] });
    expect(proven.ok).toBe(true);
    expect(proven.checked.join()).toContain("the ones given");
    const other = pointOf(generateKeyPairSync("ed25519").publicKey.export({ format: "jwk" })) ?? "";
    expect((await verifyExport(path, { publicKeys: [{ keyId: null, x: other }] })).ok).toBe(false);
  });

  it("says of a filtered export that it cannot be verified", async () => {
    const filtered = await lines({ tenantId: "north", type: "login.succeeded", from: 0, to: Date.now() });
    const records = filtered.map((line) => JSON.parse(line));
    expect(records[0]).toMatchObject({
      verifiable: false,
      filters: { type: "login.succeeded", from: "1970-01-01T00:00:00.000Z" },
    });
    expect(records.at(-1)).toEqual({ record: "end", events: 15, checkpoints: 0 });
    expect(new Set(records.map((record) => record.record))).toEqual(new Set(["header", "tenant", "event", "end"]));
    expect(await lines({ type: "nothing.such" })).toHaveLength(5);
    await expect(verifyExport(await save(filtered), {})).rejects.toThrow("with filters");
    await expect(verifyExport(await save(["{}\n"]), {})).rejects.toThrow("not a journal export");
  });

  it("is not held against checkpoints that are newer than it", async () => {
    const path = await save(await lines());
    const before = await readFile(kit.headFile);
    await insertEvents(kit.store, "north", 1);
    kit.clock.advance(1);
    await kit.seal();
    kit.clock.offset = 0;
    const result = await verifyExport(path, { headFiles: [kit.headFile] });
    expect(errorsOf(result)).toEqual([]);
    expect(result.findings.shown).toMatchObject([
      { kind: "file", message: expect.stringContaining("newer than the export") },
    ]);
    await writeFile(kit.headFile, before);
    // An export that lacks what it should have is.
    const header = JSON.parse((await lines())[0] ?? "");
    const cut = (await readFile(path, "utf8")).split("\n").filter((line) => !/"tenantId":"south"/.test(line));
    await writeFile(path, [JSON.stringify(header), ...cut.slice(1)].join("\n"));
    expect(errorsOf(await verifyExport(path, { headFiles: [kit.headFile] }))).toContain("cut south 4");
  });
});
