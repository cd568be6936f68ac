import { statSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { databases } from "../kit/databases.ts";
import { manyPeople, Programme } from "./programme.ts";

describe.each(databases)("beneficiary import on $name", (database) => {
  let programme: Programme;
  beforeAll(async () => {
    programme = await Programme.open(database, {
      nationalId: { pattern: "[0-9A-Z]{1,12}", onMismatch: "refuse" },
    });
  });
  afterAll(() => programme?.close());

  const rejectsOf = (name: string) =>
    programme
      .read(name)
      .trimEnd()
      .split("\n")
      .slice(1)
      .map((line) => line.replaceAll('"', ""));

  test("people come in through the real program, and a second run changes nothing", async () => {
    programme.write("first.csv", [
      "\ufeffexternal_id;given_name;family_name;full_name;date_of_birth;birth_calendar;birth_estimated;language;phones;emails;national_ids;disabled",
      "A-1;Amina;Otieno;;1984-05-06;;;sw;0712 000 001|+254712000002;Amina@Example.org;nid:00-12 34|passport:ab 1;",
      "A-2;;;Tigist Haile;2000-01-01;ethiopic;;am;;;;false",
      "A-3;فاطمة;;;1445-01-01;umalqura;yes;ar;;;nid:٧٧;true",
      "A-4;José;;;1990;ethiopic;;;;;;",
    ]);
    const { code, stdout, stderr } = await programme.line.run(["beneficiary", "import", "first.csv"]);
    expect(stderr).toBe("");
    expect(stdout).toMatch(/^4 rows for demo in \d+ s: 4 added, 0 changed, 0 as they were, 0 rejected\.\n$/);
    expect(code).toBe(0);

    expect(await programme.person("A-1")).toMatchObject({
      names: { given: "Amina", family: "Otieno" },
      birth: { year: 1984, month: 5, day: 6, estimated: false },
      language: "sw",
      phones: ["+254712000001", "+254712000002"],
      emails: ["amina@example.org"],
      nationalIds: [
        { type: "nid", number: "001234" },
        { type: "passport", number: "AB1" },
      ],
      disabledAt: null,
    });
    expect(await programme.person("A-2")).toMatchObject({
      names: { given: "Tigist", full: "Tigist Haile" },
      birth: { year: 2007, month: 9, day: 12, estimated: false },
    });
    const third = await programme.person("A-3");
    expect(third).toMatchObject({ birth: { year: 2023, month: 7, day: 19, estimated: true } });
    expect(third.disabledAt).not.toBeNull();
    expect(await programme.person("A-4")).toMatchObject({ birth: { year: 1998, estimated: true } });

    const again = await programme.line.json(["beneficiary", "import", "first.csv"]);
    expect(again).toMatchObject({ rows: 4, added: 0, changed: 0, unchanged: 4, rejected: 0, rejects: null });
    const added = await programme.events("beneficiary.added");
    expect(added).toHaveLength(1);
    expect(added[0]?.data).toMatchObject({ count: 4, ids: expect.stringContaining(third.id) });
    expect(await programme.events("beneficiary.changed")).toEqual([]);
  });

  test("a file with a few columns changes those facts alone; an empty cell takes one away", async () => {
    programme.write("phones.csv", ["external_id,phones,language", "A-1,+254712000009,", "A-2,,en"]);
    expect(await programme.import(["phones.csv"])).toMatchObject({ added: 0, changed: 2 });
    const first = await programme.person("A-1");
    expect(first).toMatchObject({
      phones: ["+254712000009"],
      language: null,
      emails: ["amina@example.org"],
      version: 2,
    });
    expect(await programme.person("A-2")).toMatchObject({ language: "en", names: { full: "Tigist Haile" } });
    const [changed] = await programme.events("beneficiary.changed");
    expect(changed?.data).toMatchObject({ count: 2, ids: expect.stringContaining(first.id) });
  });

  test("NDJSON holds the same facts, from a file or a pipe", async () => {
    const rows = [
      {
        external_id: "N-1",
        given_name: "Neema",
        phones: ["0712000011"],
        national_ids: [{ type: "nid", number: "N1" }],
      },
      { external_id: "N-2", full_name: "Juma Ali", birth_estimated: true, date_of_birth: "1950", disabled: true },
      { external_id: "A-1", emails: null },
    ].map((row) => JSON.stringify(row));
    expect(await programme.import(["-"], `${rows.join("\n")}\n`)).toMatchObject({ added: 2, changed: 1, rejected: 0 });
    expect(await programme.person("N-1")).toMatchObject({ phones: ["+254712000011"] });
    expect(await programme.person("N-2")).toMatchObject({ birth: { year: 1950, estimated: true } });
    expect(await programme.person("A-1")).toMatchObject({ emails: [], phones: ["+254712000009"] });
    programme.write("same.jsonl", rows);
    expect(await programme.import(["same.jsonl"])).toMatchObject({ unchanged: 3 });
  });

  test("each bad row is told with its line, field and reason; the good ones around it come in", async () => {
    programme.write("bad.csv", [
      "external_id,given_name,date_of_birth,birth_calendar,language,phones,emails,national_ids,disabled",
      "B-1,Good,,,,,,,",
      ",Nameless,,,,,,,",
      "B-3,,,,,,,,",
      "B-4,Bad,1990-02-30,,,,,,",
      "B-5,Bad,2099,,,,,,",
      "B-6,Bad,1990,julian,,,,,",
      "B-7,Bad,,,klingon!,12,not-an-address,nid:?,maybe",
      "B-8,Bad,,,,,,nid:1234567890123,",
      "B-9,Taken,,,,,,nid:N1,",
      "B-10,Twin,,,,,,nid:B10,",
      "B-11,Twin,,,,,,nid:b-10,",
      'B-12,"Bad"x,,,,,,,',
      "B-13,Short",
      "B-14,Good,,,,,,,",
    ]);
    const { code, stdout } = await programme.line.runHere(["beneficiary", "import", "bad.csv", "--json"]);
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      ...{ rows: 14, added: 3, rejected: 11 },
      rejects: programme.path("bad.csv.rejects.csv"),
    });
    const holder = await programme.person("N-1");
    const twin = await programme.person("B-10");
    const taken = (id: string) => `rejected,national_ids,is the ID number of another active person, ${id}`;
    expect(rejectsOf("bad.csv.rejects.csv")).toEqual([
      "3,rejected,external_id,is missing",
      "4,rejected,given_name,is missing: give given_name or full_name",
      "5,rejected,date_of_birth,is no gregorian date: write YYYY, YYYY-MM or YYYY-MM-DD",
      "6,rejected,date_of_birth,lies in the future",
      "7,rejected,birth_calendar,must be one of gregorian, ethiopic, umalqura",
      "8,rejected,national_ids[0],is not an ID number",
      "8,rejected,language,is not a language tag such as sw or pt-BR",
      "8,rejected,phones[0],is not a phone number; write it with its country code, such as +254…",
      "8,rejected,emails[0],is not an email address",
      "8,rejected,disabled,must be true or false",
      "9,rejected,national_ids[0],does not look like one of this tenant's ID numbers",
      `10,${taken(holder.id)}`,
      `12,${taken(twin.id)}`,
      "13,rejected,,has text behind a closing quote",
      "14,rejected,,has 2 cells, and the header 9",
    ]);
    expect(statSync(programme.path("bad.csv.rejects.csv")).mode & 0o777).toBe(0o600);
    // Put right, the file runs again; nothing is left of the rejects.
    programme.write("bad.csv", ["external_id,given_name", "B-3,Now named"]);
    expect(await programme.import(["bad.csv"])).toMatchObject({ added: 1, rejects: null });
    expect(() => programme.read("bad.csv.rejects.csv")).toThrow("ENOENT");
  });

  test("the rejected rows themselves are written where that is asked for, guarded against formulas", async () => {
    programme.write("data.csv", ["external_id,given_name,phones", "=cmd,Amina,12"]);
    await programme.import(["data.csv", "--rejects", "why.csv", "--with-data"]);
    expect(programme.read("why.csv").split("\n")[1]).toBe(
      '2,rejected,phones[0],"is not a phone number; write it with its country code, such as +254…",\'=cmd,Amina,12',
    );
    programme.write("mine.csv", ["precious"]);
    const { code, stderr } = await programme.line.runHere([
      "beneficiary",
      "import",
      "data.csv",
      "--rejects",
      "mine.csv",
    ]);
    expect(code).toBe(1);
    expect(stderr).toContain("is no reject file of an import");
    expect(programme.read("mine.csv")).toBe("precious\n");
  });

  test("an ID number moves from one person to another in the order of the rows", async () => {
    programme.write("move.csv", ["external_id,given_name,national_ids", "M-1,One,nid:M1", "M-2,Two,nid:M2"]);
    await programme.import(["move.csv"]);
    programme.write("move.csv", ["external_id,national_ids", "M-1,", "M-2,nid:M1"]);
    expect(await programme.import(["move.csv"])).toMatchObject({ changed: 2, rejected: 0 });
    expect(await programme.person("M-2")).toMatchObject({ nationalIds: [{ type: "nid", number: "M1" }] });
    // One who is disabled gives the number up, and gets it back only while it is free.
    programme.write("off.csv", ["external_id,disabled", "M-2,true"]);
    await programme.import(["off.csv"]);
    programme.write("take.csv", ["external_id,national_ids", "M-1,nid:M1"]);
    expect(await programme.import(["take.csv"])).toMatchObject({ changed: 1 });
    programme.write("on.csv", ["external_id,disabled", "M-2,no"]);
    expect(await programme.import(["on.csv"])).toMatchObject({ changed: 0, rejected: 1 });
    expect((await programme.events("beneficiary.disabled")).map(({ subject }) => subject)).toContain(
      (await programme.person("M-2")).id,
    );
  });

  test("two rows of one person: the later one is the last word", async () => {
    programme.write("twice.csv", ["external_id,given_name,language", "T-1,First,sw", "T-2,Other,", "T-1,Second,"]);
    expect(await programme.import(["twice.csv"])).toMatchObject({ added: 2, changed: 1 });
    expect(await programme.person("T-1")).toMatchObject({ names: { given: "Second" }, language: null });
  });

  test("a dry run looks at everything and writes nothing", async () => {
    programme.write("dry.csv", ["external_id,given_name,phones", "A-1,Changed,", "D-1,New,", "D-2,Bad,1"]);
    const before = await programme.everyone();
    expect(await programme.import(["dry.csv", "--dry-run"])).toMatchObject({ added: 1, changed: 1, rejected: 1 });
    expect(await programme.everyone()).toEqual(before);
    const { stdout } = await programme.line.runHere(["beneficiary", "import", "dry.csv", "--dry-run"]);
    expect(stdout).toContain("1 would be added, 1 would be changed, 0 as they were, 1 rejected.");
    expect(stdout).toContain("Nothing was changed.");
  });

  test("warnings are told, and the row is taken", async () => {
    await programme.line.jsonHere(["tenant", "set", "demo", "--settings", "-"], {
      input: JSON.stringify({ defaultCountry: "KE", nationalId: { checksum: "luhn", onMismatch: "warn" } }),
    });
    programme.write("warn.csv", ["external_id,given_name,national_ids", "W-1,Wanjiru,nid:79927398710"]);
    expect(await programme.import(["warn.csv"])).toMatchObject({ added: 1, rejected: 0, warnings: 1 });
    expect(rejectsOf("warn.csv.rejects.csv")).toEqual(["2,warning,national_ids[0],has a wrong check digit"]);
  });

  test("files that cannot be imported are refused with what to do, and nothing of them comes in", async () => {
    const refusal = async (name: string, bytes: Uint8Array | string[], ...options: string[]) => {
      programme.write(name, bytes);
      const { code, stdout, stderr } = await programme.line.runHere(["beneficiary", "import", name, ...options]);
      expect([code, stdout]).toEqual([1, ""]);
      return stderr;
    };
    const before = await programme.everyone();
    const latin1 = Buffer.from("external_id,given_name\nL-1,Jose\nL-2,José\n", "latin1");
    expect(await refusal("latin1.csv", latin1)).toMatch(/Line 3 is not UTF-8 text/);
    expect(await refusal("utf16.csv", Buffer.from("\ufeffexternal_id\n1\n", "utf16le"))).toMatch(/UTF-16/);
    expect(await refusal("phone.csv", ["external_id,phone", "1,2"])).toMatch(/Did you mean phones/);
    expect(await refusal("list.json", ["[", "]"])).toMatch(/jq -c/);
    expect(await refusal("empty.csv", [""])).toMatch(/empty/);
    expect(await programme.everyone()).toEqual(before);
    programme.write("extra.csv", ["external_id,given_name,favourite colour", "X-1,Extra,blue"]);
    expect(await programme.import(["extra.csv", "--ignore-unknown"])).toMatchObject({ added: 1 });
    for (const [args, sentence] of [
      [["none.csv"], /There is no file/],
      [["extra.csv", "--batch", "0"], /--batch must be a whole number from 1 to 5000/],
      [["extra.csv", "--from-line", "x"], /--from-line must be/],
      [["extra.csv", "--resume"], /No interrupted import of this file/],
      [["extra.csv", "--resume", "--dry-run"], /leave --from-line and --dry-run out/],
      [["extra.csv", "--rejects", "/none/at/all.csv"], /Nothing can be written in \/none\/at/],
      [["extra.csv", "--tenant", "dmeo"], /There is no tenant "dmeo"\. Did you mean demo\?/],
    ] as const) {
      expect((await programme.line.runHere(["beneficiary", "import", ...args])).stderr).toMatch(sentence);
    }
  });

  test("batches of any size give the same people", async () => {
    programme.write("many.csv", manyPeople(130));
    expect(await programme.import(["many.csv", "--batch", "7"])).toMatchObject({ added: 130, rejected: 0 });
    expect(await programme.import(["many.csv", "--batch", "130", "--from-line", "102"])).toMatchObject({
      ...{ rows: 30, unchanged: 30 },
    });
    const people = (await programme.everyone()).filter(({ externalId }) => externalId?.startsWith("P-"));
    expect(people).toHaveLength(130);
    const one = people.find(({ externalId }) => externalId === "P-77");
    expect(one).toMatchObject({ phones: ["+254710000077"], nationalIds: [{ type: "nid", number: "1000077" }] });
  });

  test("two imports of the same people at the same time lose and double nobody", async () => {
    programme.write("race.csv", manyPeople(200, 5000));
    const both = await Promise.all([
      programme.import(["race.csv", "--batch", "20", "--rejects", "race-1.csv"]),
      programme.import(["race.csv", "--batch", "30", "--rejects", "race-2.csv"]),
    ]);
    expect(both.map(({ rejected }) => rejected)).toEqual([0, 0]);
    expect(both.reduce((sum, { added }) => sum + added, 0)).toBe(200);
    const ids = (await programme.everyone()).map(({ externalId }) => externalId);
    expect(ids.filter((id) => /^P-5\d\d\d$/.test(id ?? ""))).toHaveLength(200);
    expect(new Set(ids).size).toBe(ids.length);
  });
});
