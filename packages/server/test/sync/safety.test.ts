import { type CitizenSession, type Problem, routes, type VaultKey } from "@fieldgate/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { issueCard } from "../../src/people/cards.ts";
import { findBeneficiary } from "../../src/store/beneficiaries.ts";
import { createKeyVault } from "../../src/tokens/key-vault.ts";
import { Programme } from "../beneficiaries/programme.ts";
import { databases } from "../kit/databases.ts";
import { startNode, type TestNode, testSecret } from "../kit/node.ts";
import { TestChannel } from "../kit/test-channel.ts";
import { Device, person } from "./device.ts";

type Answer = CitizenSession & Problem;
type Listed = { id: string; entityId: string; fields: string[]; data?: object }[];

describe.each(databases)("events that would harm somebody on $name", (database) => {
  let programme: Programme;
  let node: TestNode;
  let device: Device;
  const sms = new TestChannel("sms", "sms");

  beforeAll(async () => {
    programme = await Programme.open(database);
    node = await startNode({ database: programme.config, channels: [sms] });
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
  const waiting = async (id: string) =>
    (await programme.line.jsonHere<Listed>(["proposal", "list"])).filter(({ entityId }) => entityId === id);
  const vaultKey = (token: string) => node.api.call<VaultKey & Problem>(routes.vaultKey, { token });
  const deletion = (author: Device, entityId: string) =>
    author.event("delete-entity", {}, { entityId, baseVersion: 1 });

  async function register(given: string, more: Record<string, unknown>): Promise<string> {
    const created = device.event("create-individual", person(given, more));
    await device.pushAll(created);
    return created.entityId;
  }

  async function scan(id: string, helper?: Device): Promise<Device> {
    const { store, clock } = node.app.services;
    const vault = createKeyVault(testSecret);
    const context = { cipher: await programme.cipher(), vault, baseUrl: node.url, now: clock.now() };
    const card = await store.transaction((tx) => issueCard(tx, context, id, 3600));
    const { body, text } = await node.api.call<Answer>(routes.qrVerify, {
      body: { qrPayload: card.text, tenantId: "demo", ...(helper && { assisted: true }) },
      ...(helper && { token: helper.token }),
    });
    if (!body.token) throw new Error(text);
    return new Device(node.api, body.token);
  }

  test("nobody's ID number is taken over by deleting them: the deletion waits for a supervisor", async () => {
    const nationalIds = [{ type: "nid", number: "8001" }];
    const victim = await register("Victim", { phones: ["0712200001"], nationalIds });
    const theft = device.event("create-individual", person("Thief", { phones: ["0712200002"], nationalIds }));
    const removal = deletion(device, victim);
    expect(await device.push(removal, theft)).toMatchObject([{ status: "accepted" }, { code: "identifier_taken" }]);
    expect((await beneficiary(victim))?.disabledAt).toBeNull();
    await Device.ofCitizen(node, sms, "+254712200001");
    expect((await trailOf(victim)).at(-1)).toMatchObject({ status: "proposed", proposed: ["entity"] });
    expect(await waiting(victim)).toMatchObject([{ id: removal.id, fields: ["entity"] }]);

    await programme.line.jsonHere(["proposal", "refuse", removal.id]);
    expect(await device.push(theft)).toMatchObject([{ code: "identifier_taken" }]);
    const again = deletion(device, victim);
    await device.pushAll(again);
    await programme.line.jsonHere(["proposal", "accept", again.id, "--by", "sara"]);
    expect((await beneficiary(victim))?.disabledAt).not.toBeNull();
    expect((await trailOf(victim)).at(-1)).toMatchObject({
      ...{ type: "delete-entity", status: "applied", proposalId: again.id, author: { username: "sara" } },
    });
    await device.pushAll(theft);
  });

  test("of two events with one id the one that can be taken is kept, as itself", async () => {
    const lost = device.event("update-individual", { note: "lost" });
    const kept = device.event("create-individual", person("Kept"), { id: lost.id });
    expect(await device.push(lost, kept)).toMatchObject([{ code: "entity_not_found" }, { status: "accepted" }]);
    expect(await trailOf(kept.entityId)).toMatchObject([{ id: kept.id, data: kept.data, type: kept.type }]);
  });

  test("whoever cannot sign in, or came with the same batch, is deleted at once; a citizen's own wish waits", async () => {
    const loose = device.event("create-individual", person("Loose"));
    const mistake = device.event("create-individual", person("Mistake", { phones: ["0712200003"] }));
    const { entityId } = mistake;
    await device.pushAll(loose, deletion(device, loose.entityId), mistake, deletion(device, entityId));
    expect((await trailOf(loose.entityId)).at(-1)).toMatchObject({ type: "delete-entity", status: "applied" });
    expect((await beneficiary(entityId))?.disabledAt).not.toBeNull();

    const id = await register("Tired", { phones: ["0712200004"] });
    const citizen = await Device.ofCitizen(node, sms, "+254712200004");
    const wish = deletion(citizen, id);
    await citizen.pushAll(wish);
    expect((await beneficiary(id))?.disabledAt).toBeNull();
    await programme.line.jsonHere(["proposal", "accept", wish.id]);
    expect((await beneficiary(id))?.disabledAt).not.toBeNull();
  });

  test("a supervisor whom the tenant trusts deletes at once, and the person is told", async () => {
    await node.addTenant("trusting", { defaultCountry: "KE", sync: { identifierChanges: "supervisors" } });
    await node.addWorker({ username: "sara", tenantId: "trusting", roles: ["supervisor"] });
    const supervisor = await Device.ofWorker(node, "sara", "trusting");
    const created = supervisor.event("create-individual", person("Gone", { phones: ["0712200005"] }));
    await supervisor.pushAll(created);
    await supervisor.pushAll(deletion(supervisor, created.entityId));
    expect((await supervisor.pull()).events.map(({ status }) => status)).toEqual(["applied", "applied"]);
    await expect.poll(() => sms.sent.some(({ to }) => to === "+254712200005"), { timeout: 8000 }).toBe(true);
  });

  test("a citizen takes no other name by themself, and nobody one that cannot be read", async () => {
    const id = await register("Asha", { phones: ["0712200006"] });
    const citizen = await Device.ofCitizen(node, sms, "+254712200006");
    const rename = citizen.event("update-individual", person("Neema", { language: "en" }), { entityId: id });
    await citizen.pushAll(rename);
    expect(await beneficiary(id)).toMatchObject({ names: { given: "Asha" }, language: "en" });
    expect(await waiting(id)).toMatchObject([{ fields: ["names"] }]);
    const before = sms.sent.length;
    await programme.line.jsonHere(["proposal", "accept", rename.id]);
    expect((await beneficiary(id))?.names.given).toBe("Neema");
    expect(sms.sent.length).toBe(before);
    for (const name of ["\u202eahsA", "\u200b\u200b", "<i>Asha</i>", "https://example.org"]) {
      const odd = device.event("update-individual", person(name), { entityId: id });
      expect(await device.push(odd)).toMatchObject([
        { code: "invalid_event", message: expect.stringContaining("data.names.given holds") },
      ]);
    }
  });

  test("with a worker's help a citizen writes under both names; the vault key is for neither of them then", async () => {
    const id = await register("Pendo", { phones: ["0712200007"] });
    const assisted = await scan(id, device);
    const consent = assisted.event("consent", { given: true }, { entityId: id, baseVersion: 1 });
    const rename = assisted.event("update-individual", person("Other"), { entityId: id, baseVersion: 2 });
    await assisted.pushAll(consent, rename);
    const amina = (await trailOf(id))[0]?.author;
    expect((await trailOf(id))[1]).toMatchObject({ author: { userId: id }, assistedBy: amina });
    const [made] = (await programme.events("proposal.made")).filter(({ subject }) => subject === id);
    expect(made?.data).toMatchObject({ by: id, assistedBy: amina?.userId });

    const own = await Device.ofCitizen(node, sms, "+254712200007");
    const page = (await own.pull()).events;
    expect(page[1]).toMatchObject({ author: { userId: id }, assistedBy: { userId: "", username: "programme" } });
    expect(JSON.stringify(page)).not.toContain("amina");
    expect(JSON.stringify(page)).not.toContain(amina?.userId);

    expect((await vaultKey(assisted.token)).body.code).toBe("forbidden");
    expect((await vaultKey((await scan(id)).token)).body.code).toBe("forbidden");
    expect((await vaultKey(own.token)).body.key).toMatch(/^[\w-]{43}$/);
  });
});
