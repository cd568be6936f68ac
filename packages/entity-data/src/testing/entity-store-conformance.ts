import { type ConformanceCase, claimEqual } from "@fieldgate/client/testing";
import type { EntityStore, StoredEntity } from "../entities/entity-store.ts";
import { byId, bytes, createBench } from "./conformance.ts";

/** An entity store to be tried. */
export interface EntityStoreSubject {
  /** Makes a store of a tenant, not yet initialized. Two of one tenant must see each other, unless `shared` is false. */
  create(tenantId: string): EntityStore | Promise<EntityStore>;
  /** False for a store whose entities end with the instance, such as one in memory. */
  readonly shared?: boolean;
}

const entity = (id: string, revision = 1, more: Partial<StoredEntity> = {}): StoredEntity => ({
  owner: "amina",
  id,
  revision,
  sealed: bytes(1, revision),
  ...more,
});

/**
 * What every `EntityStore` must do. Each case works on a tenant of its own.
 *
 * @example
 * for (const { name, run, skip } of entityStoreConformance({ create: (tenantId) => new MyEntityStore(tenantId) })) {
 *   test(name, { skip }, run);
 * }
 */
export function entityStoreConformance(subject: EntityStoreSubject): ConformanceCase[] {
  const notShared = subject.shared === false ? "entities of this store end with the instance" : undefined;
  const { open, close, newTenant, define } = createBench((tenantId) => subject.create(tenantId));

  return [
    define("is empty at first, and can be initialized again, by several at once", async (store) => {
      await Promise.all([store.initialize(), store.initialize()]);
      claimEqual(await store.get("amina", ["a"]), [], "get gives nothing");
      claimEqual(await store.page("amina", null, 10), [], "the first page is empty");
      await store.remove("amina", ["a"]);
    }),
    define("gives back what was put, to the byte", async (store) => {
      const sealed = new Uint8Array(100_000).map((_, at) => at * 3);
      const entities = [entity("Ñ 𝒜 '", 1, { sealed }), entity("b", 1, { sealed: bytes() })];
      claimEqual(await store.put(entities), [], "nothing is refused");
      claimEqual(byId(await store.get("amina", ["b", "Ñ 𝒜 '", "c"])), byId(entities), "get gives those that are there");
    }),
    define("stores only what follows the stored revision, each for itself", async (store) => {
      claimEqual(await store.put([entity("a", 2), entity("b", 1)]), ["a"], "a begins at 1");
      claimEqual(await store.put([entity("b", 1), entity("b", 3), entity("a", 1)]), ["b", "b"], "b is at 1 already");
      claimEqual(await store.put([entity("b", 2)]), [], "and goes on with 2");
      claimEqual((await store.get("amina", ["b"]))[0], entity("b", 2), "the last one is stored");
    }),
    define("lets one of many parallel writers win", async (store) => {
      await store.put([entity("a")]);
      const tries = Array.from({ length: 10 }, (_, index) => entity("a", 2, { sealed: bytes(index) }));
      const refused = await Promise.all(tries.map((each) => store.put([each])));
      const won = refused.findIndex((ids) => ids.length === 0);
      claimEqual(refused.flat().length, 9, "exactly one is stored");
      claimEqual((await store.get("amina", ["a"]))[0], tries[won], "and it is the winner's");
    }),
    define("reads an owner's entities in pages, in the order of their ids", async (store) => {
      const ids = Array.from({ length: 25 }, (_, index) => `id-${String(index).padStart(2, "0")}`);
      await store.put(ids.toReversed().map((id) => entity(id)));
      await store.put([entity("id-00x", 1, { owner: "brian" })]);
      const seen: string[] = [];
      for (let after: string | null = null; ; ) {
        const page: StoredEntity[] = await store.page("amina", after, 10);
        if (page.length === 0) break;
        seen.push(...page.map(({ id }) => id));
        after = page.at(-1)?.id ?? null;
      }
      claimEqual(seen, ids, "each once, in order, none of another's");
    }),
    define("removes an owner's entities alone", async (store) => {
      await store.put([entity("a"), entity("b"), entity("a", 1, { owner: "brian" })]);
      await store.remove("amina", ["a", "never there"]);
      claimEqual(await store.get("amina", ["a", "b"]), [entity("b")], "the other one stays");
      claimEqual((await store.get("brian", ["a"])).length, 1, "and so does another's");
      claimEqual(await store.put([entity("a", 2)]), ["a"], "a removed one begins anew");
      claimEqual(await store.put([entity("a", 1)]), [], "at 1");
      claimEqual((await store.page("amina", null, 10)).length, 2, "and is in the pages again");
    }),
    define("is not changed through objects it was given or gave", async (store) => {
      const given = entity("a");
      await store.put([given]);
      given.sealed[0] = 99;
      for (const got of [...(await store.get("amina", ["a"])), ...(await store.page("amina", null, 1))])
        got.sealed[0] = 98;
      claimEqual((await store.get("amina", ["a"]))[0], entity("a"), "what is stored stays");
    }),
    define("keeps tenants apart", async (store) => {
      const other = await open(newTenant());
      await store.put([entity("a")]);
      claimEqual(await other.get("amina", ["a"]), [], "no entity is seen from another tenant");
    }),
    define(
      "two of one tenant see each other, and what is stored outlives both",
      async (store, tenantId) => {
        const second = await open(tenantId);
        await store.put([entity("a")]);
        claimEqual(await second.put([entity("a", 1), entity("a", 2)]), ["a"], "the other sees the revision");
        await close(store);
        await close(second);
        claimEqual((await (await open(tenantId)).get("amina", ["a"]))[0], entity("a", 2), "and it is still there");
      },
      notShared,
    ),
  ];
}
