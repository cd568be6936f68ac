import { type CitizenSession, type Problem, routes, type VaultKey } from "@fieldgate/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findBeneficiary } from "../../src/store/beneficiaries.ts";
import { Programme } from "../beneficiaries/programme.ts";
import { databases } from "../kit/databases.ts";
import { startNode, type TestNode } from "../kit/node.ts";
import { TestChannel } from "../kit/test-channel.ts";
import { Device, person } from "./device.ts";

type Answer = CitizenSession & Problem;
type Listed = { id: string; entityId: string; fields: string[]; data?: object }[];

describe.each(databases)("people who come by events on $name", (database) => {
  let programme: Programme;
  let node: TestNode;
  let device: Device;
  const sms = new TestChannel("sms", "sms");
  const email = new TestChannel("email", "email");

  beforeAll(async () => {
    programme = await Programme.open(database, { delivery: { language: "sw" } });
    node = await startNode({ database: programme.config, channels: [sms, email] });
    await node.addWorker({ username: "amina" });
    await node.addWorker({ username: "sara", roles: ["supervisor"] });
    device = await Device.ofWorker(node, "amina");
  });
  afterAll(async () => {
    await node?.close();
    await programme?.close();
  });

  const beneficiary = async (id: string) => findBeneficiary(programme.store, await programme.cipher(), id);
  const trailOf = async (entityId: string) =>
    (await device.pull()).events.filter((event) => event.entityId === entityId);
  const verifyId = (idNumber: string, dateOfBirth: string) =>
    node.api.call<Answer>(routes.idVerify, { body: { idNumber, dateOfBirth, tenantId: "demo" } });
  const proposals = (...args: string[]) => programme.line.jsonHere<Listed>(["proposal", "list", ...args]);

  async function register(given: string, more: Record<string, unknown>): Promise<string> {
    const created = device.event("create-individual", person(given, more));
    await device.pushAll(created);
    return created.entityId;
  }

  async function told(channel: TestChannel, address: string): Promise<string> {
    for (let tries = 0; tries < 200; tries += 1) {
      const notice = channel.sent.find(({ to, text }) => to === address && !/\d{6}/.test(text));
      if (notice) return notice.text;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
    throw new Error(`Nobody told ${address}.`);
  }

  test("sign in with the phone, and with the ID number and date of birth, that the event gave them", async () => {
    const id = await register("Baraka", {
      ...{ phones: ["0712 100 001"], dateOfBirth: "1984-05-06", language: "sw", village: "Kilifi" },
      nationalIds: [{ type: "nid", number: "7001-001" }],
    });
    const citizen = await Device.ofCitizen(node, sms, "+254712100001");
    expect((await node.api.me(citizen.token)).body).toMatchObject({ entityId: id, kind: "beneficiary" });
    const answer = await verifyId("7001001", "1984-05-06");
    expect(answer.body.username).toBe(`self-service:${id}`);
    const added = await programme.events("beneficiary.added");
    expect(added.some(({ data }) => String(data.ids).includes(id))).toBe(true);
  });

  test("an ID number has one holder: the second is told so, in one batch or in two, and kept out", async () => {
    const ids = (number: string) => ({ nationalIds: [{ type: "nid", number }] });
    const [first, second] = [1, 2].map(() => device.event("create-individual", person("Juma", ids("7002"))));
    const other = device.event("create-individual", person("Ali", ids("7003")));
    const third = device.event("create-individual", person("Omar", ids("70-02")));
    expect(await device.push(first, second, other)).toMatchObject([
      { status: "accepted" },
      { status: "rejected", code: "identifier_taken", message: expect.stringContaining("ID number") },
      { status: "accepted" },
    ]);
    expect(await device.push(third)).toMatchObject([{ code: "identifier_taken" }]);
    expect(await beneficiary(third.entityId)).toBeNull();
    expect(await trailOf(third.entityId)).toEqual([]);
    // Corrected, the person comes in under the same id.
    expect(await device.push(device.event("create-individual", person("Omar", ids("7004")), third))).toMatchObject([
      { code: "identifier_taken" },
    ]);
    const { entityId } = third;
    await device.pushAll(device.event("create-individual", person("Omar", ids("7004")), { entityId }));
    expect((await beneficiary(entityId))?.nationalIds).toEqual([{ type: "nid", number: "7004" }]);
  });

  test("two workers register the same ID number at the same moment: one of them", async () => {
    const devices = await Promise.all(["amina", "sara"].map((name) => Device.ofWorker(node, name)));
    const make = (each: Device) =>
      each.event("create-individual", person("Twin", { nationalIds: [{ type: "nid", number: "7005" }] }));
    const results = (await Promise.all(devices.map((each) => each.push(make(each))))).flat();
    expect(results.map(({ status }) => status).sort()).toEqual(["accepted", "rejected"]);
  });

  test("somebody without a phone who gets one later can sign in from then on, under the name of before", async () => {
    const id = await register("Faraja", { dateOfBirth: "1990" });
    expect(await beneficiary(id)).toBeNull();
    await device.pushAll(
      device.event("update-individual", { names: { family: "Otieno" } }, { entityId: id, baseVersion: 1 }),
    );
    await device.pushAll(
      device.event("update-individual", { phones: ["0712100006"] }, { entityId: id, baseVersion: 2 }),
    );
    expect(await beneficiary(id)).toMatchObject({
      names: { given: "Faraja", family: "Otieno" },
      phones: ["+254712100006"],
      birth: { year: 1990 },
    });
    await Device.ofCitizen(node, sms, "+254712100006");
  });

  test("names and the rest change at once; identifiers and the birth date wait for a supervisor", async () => {
    const id = await register("Neema", { phones: ["0712100007"], emails: ["neema@example.org"], dateOfBirth: "1991" });
    const change = device.event(
      "update-individual",
      { names: { given: "Neema Wanjiku" }, phones: ["0712100008"], dateOfBirth: "1992-03-04", village: "Voi" },
      { entityId: id, baseVersion: 1 },
    );
    await device.pushAll(change);
    expect(await beneficiary(id)).toMatchObject({
      names: { given: "Neema Wanjiku" },
      phones: ["+254712100007"],
      birth: { year: 1991 },
    });
    expect(await trailOf(id)).toMatchObject([
      { version: 1, status: "applied" },
      { version: 2, status: "proposed", proposed: ["phones", "dateOfBirth"], data: change.data },
    ]);
    const [waiting] = (await proposals()).filter(({ entityId }) => entityId === id);
    expect(waiting).toMatchObject({ id: change.id, fields: ["phones", "dateOfBirth"] });
    expect(waiting).not.toHaveProperty("data");
    const [revealed] = (await proposals("--reveal")).filter(({ entityId }) => entityId === id);
    expect(revealed?.data).toEqual({ phones: ["0712100008"], dateOfBirth: "1992-03-04" });
    // Until then the old phone is the one that gets codes.
    await Device.ofCitizen(node, sms, "+254712100007");

    const refused = await programme.line.runHere(["proposal", "accept", change.id, "--by", "amina"]);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("no active supervisor")]);
    await programme.line.jsonHere(["proposal", "accept", change.id, "--by", "sara"]);
    expect(await beneficiary(id)).toMatchObject({ phones: ["+254712100008"], birth: { year: 1992, month: 3, day: 4 } });
    expect((await trailOf(id)).at(-1)).toMatchObject({
      ...{ type: "update-individual", version: 3, status: "applied", proposalId: change.id },
      author: { username: "sara" },
      data: { phones: ["0712100008"], dateOfBirth: "1992-03-04" },
    });
    expect(await told(sms, "+254712100007")).toMatch(/^Taarifa zako za kuingia za Demo zimebadilishwa\./);
    expect(await told(email, "neema@example.org")).not.toContain("0712");
    await Device.ofCitizen(node, sms, "+254712100008");
    const again = await programme.line.runHere(["proposal", "accept", change.id]);
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining("no open proposal")]);

    for (const type of ["proposal.made", "proposal.accepted"]) {
      const [event] = (await programme.events(type)).filter(({ subject }) => subject === id);
      expect(event?.data).toMatchObject({ event: change.id, fields: "phones dateOfBirth" });
    }
    const journal = await programme.store.db.selectFrom("journal_events").select(["data", "subject"]).execute();
    expect(JSON.stringify(journal)).not.toMatch(/Neema|071210000|1992-03/);
  });

  test("a refused proposal changes nothing, and devices learn of it", async () => {
    const id = await register("Rehema", { phones: ["0712100009"] });
    const change = device.event("update-individual", { phones: [] }, { entityId: id, baseVersion: 1 });
    await device.pushAll(change);
    await programme.line.jsonHere(["proposal", "refuse", change.id]);
    expect((await beneficiary(id))?.phones).toEqual(["+254712100009"]);
    expect((await trailOf(id)).at(-1)).toMatchObject({
      ...{ type: "refuse-proposal", status: "refused", proposalId: change.id, data: {}, version: 3 },
      author: { userId: "operator" },
    });
    expect((await proposals()).filter(({ entityId }) => entityId === id)).toEqual([]);
  });

  test("a proposal that has become impossible says why, and stays open", async () => {
    const id = await register("Salma", { phones: ["0712100010"] });
    const nationalIds = [{ type: "nid", number: "7010" }];
    const change = device.event("update-individual", { nationalIds }, { entityId: id, baseVersion: 1 });
    await device.pushAll(change);
    await register("Faster", { nationalIds });
    const taken = await programme.line.runHere(["proposal", "accept", change.id]);
    expect([taken.code, taken.stderr]).toEqual([1, expect.stringContaining("has this ID number")]);
    expect((await proposals()).some(({ entityId }) => entityId === id)).toBe(true);
    // One that is impossible already is not taken at all.
    const late = device.event("update-individual", { nationalIds }, { entityId: id, baseVersion: 2 });
    expect(await device.push(late)).toMatchObject([{ code: "identifier_taken" }]);
  });

  test("a second creation cannot slip an identifier in", async () => {
    const id = await register("Zuhura", { phones: ["0712100011"] });
    await device.pushAll(
      device.event("create-individual", person("Zuhura", { phones: ["0712100012"] }), { entityId: id }),
    );
    expect((await beneficiary(id))?.phones).toEqual(["+254712100011"]);
    expect((await trailOf(id)).at(-1)).toMatchObject({ status: "proposed", proposed: ["phones"] });
  });

  test("an identifier that is only written differently is no change", async () => {
    const id = await register("Asha", { phones: ["0712100013"], dateOfBirth: "1980-01-02" });
    const same = { phones: ["+254 712 100 013"], dateOfBirth: "1980-01-02", language: "en" };
    await device.pushAll(device.event("update-individual", same, { entityId: id, baseVersion: 1 }));
    expect((await trailOf(id)).at(-1)).toMatchObject({ status: "applied" });
    expect((await beneficiary(id))?.language).toBe("en");
  });

  test("a citizen exchanges events of their own entity alone, and never changes an identifier", async () => {
    const id = await register("Mwana", { phones: ["0712100014"] });
    const other = await register("Jirani", { phones: ["0712100015"] });
    const citizen = await Device.ofCitizen(node, sms, "+254712100014");
    const [foreign] = await trailOf(other);
    const results = await citizen.push(
      citizen.event("update-individual", { names: { given: "Mwanaisha" } }, { entityId: id, baseVersion: 1 }),
      citizen.event("update-individual", { phones: ["0712100016"] }, { entityId: id, baseVersion: 2 }),
      citizen.event("update-individual", { externalId: "HH-1" }, { entityId: id, baseVersion: 3 }),
      citizen.event("update-individual", { names: { given: "Thief" } }, { entityId: other, baseVersion: 1 }),
      citizen.event("create-individual", person("New", { phones: ["0712100017"] })),
      citizen.event("complaint", { text: "late" }, { entityId: id, baseVersion: 3 }),
      citizen.event("delete-entity", {}, { entityId: id, baseVersion: 4 }),
      citizen.event("complaint", {}, { entityId: other, id: foreign?.id ?? "" }),
    );
    const outcomes = [
      "accepted",
      "accepted",
      "accepted",
      "forbidden",
      "forbidden",
      "accepted",
      "accepted",
      "forbidden",
    ];
    expect(results.map(({ status, code }) => code ?? status)).toEqual(outcomes);
    expect(await beneficiary(id)).toMatchObject({
      ...{ names: { given: "Mwana" }, phones: ["+254712100014"], externalId: null, disabledAt: null },
    });
    expect((await beneficiary(other))?.names.given).toBe("Jirani");
    const own = (await citizen.pull()).events;
    expect(own.map(({ entityId, status }) => [entityId, status])).toEqual([
      [id, "applied"],
      [id, "proposed"],
      [id, "proposed"],
      [id, "proposed"],
      [id, "applied"],
      [id, "proposed"],
    ]);
    expect(own[0]).toMatchObject({ author: { userId: "", username: "programme" }, deviceId: "" });
    expect(own[1]?.author).toEqual({ userId: id, username: `self-service:${id}` });
    // A worker's cursor shows a citizen no more than their own.
    const first = (await device.fetch("?limit=1")).body;
    expect(new Set((await citizen.pull(first.cursor)).events.map(({ entityId }) => entityId))).toEqual(new Set([id]));
  });

  test("a citizen does not learn which ID numbers there are, and cannot bury the supervisors", async () => {
    await register("Holder", { nationalIds: [{ type: "nid", number: "7060" }], externalId: "HH-60" });
    const id = await register("Curious", { phones: ["0712100061"] });
    const citizen = await Device.ofCitizen(node, sms, "+254712100061");
    const guess = (data: object) => citizen.event("update-individual", data, { entityId: id, baseVersion: 1 });
    const guesses = ["7060", "7061"].map((number) => guess({ nationalIds: [{ type: "nid", number }] }));
    const results = await citizen.push(...guesses, guess({ externalId: "HH-60" }), guess({ externalId: "HH-61" }));
    expect(new Set(results.map(({ status }) => status))).toEqual(new Set(["accepted"]));
    const taken = await programme.line.runHere(["proposal", "accept", guesses[0]?.id ?? ""]);
    expect([taken.code, taken.stderr]).toEqual([1, expect.stringContaining("has this ID number")]);
    const many = Array.from({ length: 20 }, (_, n) => guess({ phones: [`07121007${10 + n}`] }));
    const outcomes = (await citizen.push(...many)).map(({ code, status }) => code ?? status);
    expect(outcomes).toEqual(Array.from({ length: 20 }, (_, n) => (n < 16 ? "accepted" : "too_many_proposals")));
    expect(await citizen.push(guess({ language: "en" }))).toMatchObject([{ status: "accepted" }]);
  });

  test("a tenant may let supervisors change identifiers themselves: the old address is told all the same", async () => {
    await node.addTenant("trusting", { defaultCountry: "KE", sync: { identifierChanges: "supervisors" } });
    await node.addWorker({ username: "amina", tenantId: "trusting" });
    await node.addWorker({ username: "sara", tenantId: "trusting", roles: ["supervisor"] });
    const worker = await Device.ofWorker(node, "amina", "trusting");
    const supervisor = await Device.ofWorker(node, "sara", "trusting");
    const created = worker.event("create-individual", person("Pendo", { phones: ["0712100020"] }));
    const { entityId } = created;
    await worker.pushAll(created);
    await worker.pushAll(worker.event("update-individual", { phones: ["0712100021"] }, { entityId, baseVersion: 1 }));
    const direct = supervisor.event("update-individual", { phones: ["0712100022"] }, { entityId, baseVersion: 2 });
    await supervisor.pushAll(direct);
    const trail = (await supervisor.pull()).events;
    expect(trail.map(({ status }) => status)).toEqual(["applied", "proposed", "applied"]);
    expect(await told(sms, "+254712100020")).toMatch(/^Your sign-in details for Programme trusting were changed\./);
    await Device.ofCitizen(node, sms, "+254712100022", "trusting");
  });

  test("a deleted entity signs in no more, is not erased, and is not opened again by an event", async () => {
    const id = await register("Bakari", { phones: ["0712100030"], nationalIds: [{ type: "nid", number: "7030" }] });
    const citizen = await Device.ofCitizen(node, sms, "+254712100030");
    const deletion = device.event("delete-entity", {}, { entityId: id, baseVersion: 1 });
    await device.pushAll(deletion);
    await programme.line.jsonHere(["proposal", "accept", deletion.id, "--by", "sara"]);
    expect((await beneficiary(id))?.disabledAt).not.toBeNull();
    await expect
      .poll(async () => (await citizen.fetch()).body.code, { timeout: 8000, interval: 100 })
      .toBe("session_revoked");
    await device.pushAll(
      device.event("update-individual", { names: { given: "B" } }, { entityId: id, baseVersion: 2 }),
    );
    await device.pushAll(device.event("create-individual", person("C"), { entityId: id, baseVersion: 3 }));
    expect(await beneficiary(id)).toMatchObject({ names: { given: "C" }, disabledAt: expect.any(Number) });
    // The number is free for somebody else.
    await register("Next", { nationalIds: [{ type: "nid", number: "7030" }] });
    const nobody = device.event("create-individual", person("D"));
    const { entityId } = nobody;
    await device.pushAll(nobody, device.event("delete-entity", {}, { entityId, baseVersion: 1 }));
    await device.pushAll(device.event("update-individual", { phones: ["0712100031"] }, { entityId, baseVersion: 2 }));
    expect((await beneficiary(entityId))?.disabledAt).not.toBeNull();
  });

  test("somebody from an import is an entity too", async () => {
    programme.write("people.csv", ["external_id,given_name,phones", "HH-77,Imported,0712100040"]);
    await programme.import(["people.csv"]);
    const { id: entityId } = await programme.person("HH-77");
    await device.pushAll(
      device.event("update-individual", { note: "seen" }, { entityId }),
      device.event("update-individual", { names: { family: "Mrefu" } }, { entityId, baseVersion: 1 }),
    );
    expect((await programme.person("HH-77")).names).toEqual({ given: "Imported", family: "Mrefu" });
  });

  test("a vault key is the user's own, the same on every node from the first moment, and journalled once", async () => {
    const { baseUrl, audience } = node.config;
    const other = await startNode({
      ...{ database: programme.config, config: { baseUrl, audience }, channels: [sms, email] },
    });
    try {
      await register("Vault", { phones: ["0712100050"] });
      const citizen = await Device.ofCitizen(node, sms, "+254712100050");
      const supervisor = await Device.ofWorker(node, "sara");
      const keyOf = (api: TestNode["api"], token: string) =>
        api.call<VaultKey & Problem>(routes.vaultKey, { token }).then(({ body }) => body);
      const keys: string[] = [];
      for (const { token } of [device, supervisor, citizen]) {
        const calls = [node, other, node, other].map(({ api }) => keyOf(api, token));
        const [first, ...others] = await Promise.all(calls);
        expect(first).toEqual({ keyId: expect.any(String), key: expect.stringMatching(/^[\w-]{43}$/) });
        for (const each of others) expect(each).toEqual(first);
        keys.push(first?.key ?? "");
      }
      expect(new Set(keys).size).toBe(3);
      expect(await programme.events("vault_key.created")).toHaveLength(3);
      expect((await keyOf(node.api, "nonsense")).code).toBe("invalid_token");
      const rows = await programme.store.db.selectFrom("vault_keys").selectAll().execute();
      for (const key of keys) expect(JSON.stringify(rows)).not.toContain(key);
    } finally {
      await other.close();
    }
  });
});
