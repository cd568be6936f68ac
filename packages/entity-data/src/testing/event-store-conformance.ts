import { type ConformanceCase, claim, claimEqual } from "@fieldgate/client/testing";
import type { Append, EventStore, StoredEvent } from "../events/event-store.ts";
import { byId, bytes, createBench } from "./conformance.ts";

/** An event store to be tried. */
export interface EventStoreSubject {
  /**
   * Makes a store of a tenant, not yet initialized. Two that are made for one tenant must see each other's events, as two tabs or
   * processes would, unless `shared` is false.
   */
  create(tenantId: string): EventStore | Promise<EventStore>;
  /** False for a store whose events end with the instance, such as one in memory. */
  readonly shared?: boolean;
}

const own = (sequence: number, more: Partial<StoredEvent> = {}): StoredEvent => ({
  owner: "amina",
  id: `event-${String(sequence).padStart(4, "0")}`,
  entityId: `entity-${sequence % 3}`,
  sequence,
  status: "pending",
  sealed: bytes(1, 2, 3, sequence % 256),
  receipt: null,
  ...more,
});
const others = (id: string, more: Partial<StoredEvent> = {}): StoredEvent =>
  own(1, { id, sequence: null, status: "confirmed", ...more });

/** A batch of one owner's, with the head that belongs to it. */
function batch(events: readonly StoredEvent[], replaces?: string): Append {
  const { owner, sequence } = events.at(-1) as StoredEvent;
  const head = { owner, sequence: sequence as number, sealed: bytes(9, sequence as number) };
  return replaces === undefined ? { events, head } : { events, head, replaces };
}
const range = (from: number, to: number, more?: Partial<StoredEvent>) =>
  Array.from({ length: to - from + 1 }, (_, index) => own(from + index, more));
const ids = (events: readonly StoredEvent[]) => events.map(({ id }) => id);

/**
 * What every `EventStore` must do. Each case works on a tenant of its own, so the subject needs no cleaning between them.
 *
 * @example
 * for (const { name, run, skip } of eventStoreConformance({ create: (tenantId) => new MyEventStore(tenantId) })) {
 *   test(name, { skip }, run);
 * }
 */
export function eventStoreConformance(subject: EventStoreSubject): ConformanceCase[] {
  const notShared = subject.shared === false ? "events of this store end with the instance" : undefined;
  const { open, close, newTenant, define } = createBench((tenantId) => subject.create(tenantId));
  const pending = (store: EventStore, owner = "amina", after = 0, limit = 100) =>
    store.log(owner, { status: "pending", after, limit });

  return [
    define("is empty at first, and can be initialized again, by several at once", async (store) => {
      await Promise.all([store.initialize(), store.initialize()]);
      claimEqual(await store.head("amina"), null, "no log has a head");
      claimEqual(await store.log("amina", { limit: 10 }), [], "the log is empty");
      claimEqual(await store.get("amina", ["event-0001"]), [], "get gives nothing");
      claimEqual(await store.ofEntity("amina", "entity-1"), [], "an entity has no events");
      claimEqual(await store.has("pending"), false, "nothing is pending");
      claimEqual(await store.count("pending"), 0, "and the count says so");
      claimEqual(await store.getState("cursor"), null, "no state is set");
    }),
    define("gives back what was appended, to the byte", async (store) => {
      const sealed = new Uint8Array(100_000).map((_, at) => at * 7);
      const events = [
        own(1, { id: "Ñ 𝒜 ' \\ 名", sealed }),
        own(2, { sealed: bytes(), receipt: bytes(0), status: "rejected" }),
      ];
      claim(await store.append(batch(events)), "append is true");
      claimEqual(await store.log("amina", { limit: 10 }), events, "the log has both, in order");
      claimEqual(byId(await store.get("amina", ids(events))), byId(events), "get gives both");
      claimEqual(await store.head("amina"), batch(events).head, "the head is stored");
    }),
    define("appends only where the log ends", async (store) => {
      claim(!(await store.append(batch([own(2)]))), "a log does not begin at 2");
      claim(await store.append(batch(range(1, 3))), "it begins at 1");
      for (const sequence of [3, 5, 1]) {
        claim(!(await store.append(batch([own(sequence, { id: "new" })]))), `after 3 does not come ${sequence}`);
      }
      claimEqual((await store.head("amina"))?.sequence, 3, "the head did not move");
      claim(await store.append(batch([own(4)])), "after 3 comes 4");
      claimEqual(ids(await store.log("amina", { limit: 10 })), ids(range(1, 4)), "nothing else is in the log");
    }),
    define("takes an id once, and a batch as a whole", async (store) => {
      await store.append(batch(range(1, 2)));
      claim(!(await store.append(batch([own(3), own(4, { id: "event-0001" })]))), "a known id is refused");
      claimEqual(await store.get("amina", ["event-0003"]), [], "nothing of the batch was stored");
      claimEqual((await store.head("amina"))?.sequence, 2, "the head did not move");
      claimEqual(await store.count("pending"), 2, "nor did the count");
    }),
    define("lets one of many parallel appends win", async (store) => {
      const tries = Array.from({ length: 10 }, (_, index) => own(1, { id: `try-${index}` }));
      const won = await Promise.all(tries.map((event) => store.append(batch([event]))));
      claimEqual(won.filter(Boolean).length, 1, "exactly one append is true");
      const winner = tries[won.indexOf(true)] as StoredEvent;
      claimEqual(ids(await store.log("amina", { limit: 10 })), [winner.id], "the winner's event is stored");
    }),
    define("keeps owners apart", async (store) => {
      await store.append(batch(range(1, 3)));
      await store.append(batch(range(1, 2, { owner: "brian", sealed: bytes(7) })));
      claimEqual((await store.log("brian", { limit: 10 })).length, 2, "each has a log of their own");
      claimEqual((await store.get("brian", ["event-0001"]))[0]?.sealed, bytes(7), "the same id is another event");
      await store.settle("brian", [{ id: "event-0001", status: "accepted", receipt: null }]);
      claimEqual(await store.count("pending", "amina"), 3, "settling one's event leaves the other's");
      claimEqual(await store.count("pending", "brian"), 1, "and changes one's own");
      claimEqual(await store.count("pending"), 4, "the count without an owner is of all");
    }),
    define("reads the log in pages, by status too", async (store) => {
      await store.append(batch(range(1, 25)));
      await store.settle(
        "amina",
        [2, 3, 12].map((n) => ({ id: own(n).id, status: "accepted", receipt: bytes(n) })),
      );
      const first = await pending(store, "amina", 0, 10);
      claimEqual(ids(first), ids([own(1), ...range(4, 11), own(13)]), "the first page");
      claimEqual(ids(await pending(store, "amina", 13, 10)), ids(range(14, 23)), "the page after it");
      claimEqual(ids(await pending(store, "amina", 23, 10)), ids(range(24, 25)), "the last page");
      claimEqual(ids(await store.log("amina", { after: 20, limit: 3 })), ids(range(21, 23)), "the log as a whole");
      claimEqual(
        ids(await store.log("amina", { status: "accepted", limit: 10 })),
        ids([own(2), own(3), own(12)]),
        "the accepted ones",
      );
    }),
    define("settling changes status and receipt, and nothing else", async (store) => {
      await store.append(batch(range(1, 2)));
      const receipt = bytes(5, 5);
      await store.settle("amina", [
        { id: "event-0001", status: "rejected", receipt },
        { id: "never there", status: "accepted", receipt: null },
      ]);
      const after = [own(1, { status: "rejected", receipt }), own(2)];
      claimEqual(await store.log("amina", { limit: 10 }), after, "only the one is changed");
      claimEqual(await store.has("rejected", "amina"), true, "one is rejected");
      claimEqual(await store.get("amina", ["never there"]), [], "an unknown id adds nothing");
      await store.settle("amina", [{ id: "event-0001", status: "pending", receipt: null }]);
      claimEqual(await store.log("amina", { limit: 10 }), range(1, 2), "and it can be changed back");
    }),
    define("keeps what others wrote beside the log", async (store) => {
      await store.append(batch(range(1, 2)));
      await store.add([others("a"), others("b", { entityId: "entity-9" }), others("a", { sealed: bytes(0) })]);
      await store.add([others("event-0001", { sealed: bytes(0) })]);
      claimEqual(await store.log("amina", { limit: 10 }), range(1, 2), "the log is as it was");
      claimEqual((await store.get("amina", ["a"]))[0], others("a"), "the first one of an id stays");
      claimEqual(
        byId(await store.ofEntity("amina", "entity-1")),
        byId([own(1), others("a")]),
        "an entity has both kinds",
      );
      claimEqual(await store.count("confirmed", "amina"), 0, "counts are of logs alone");
      claimEqual(await store.has("confirmed"), false, "and so is has");
      await store.settle("amina", [{ id: "b", status: "confirmed", receipt: bytes(4) }]);
      claimEqual((await store.get("amina", ["b"]))[0]?.receipt, bytes(4), "what others wrote can be settled too");
    }),
    define("adopted events change their owner in one step", async (store) => {
      await store.append(batch(range(1, 3, { owner: "device" })));
      await store.append(batch(range(1, 2)));
      const adopted = [1, 2].map((n) => own(2 + n, { id: `d${n}` }));
      const before = [1, 2, 3].map((n) => own(n, { owner: "nobody", id: `d${n}` }));
      await store.append(batch(before));
      claim(await store.append(batch(adopted, "nobody")), "append is true");
      claimEqual(ids(await store.log("nobody", { limit: 10 })), ["d3"], "they are gone from the log before");
      claimEqual(await pending(store, "nobody", 0, 10), before.slice(2), "also by status");
      claimEqual((await store.head("nobody"))?.sequence, 3, "whose head stays");
      claim(await store.append(batch([own(4, { owner: "nobody", id: "d4" })])), "and which goes on after it");
      claimEqual((await store.log("amina", { limit: 10 })).length, 4, "they are in the new log");
      claim(!(await store.append(batch([own(9, { id: "d3" })], "nobody"))), "a refused batch");
      claimEqual((await store.get("nobody", ["d3"])).length, 1, "removes nothing");
    }),
    define("forgets what events of an entity say, and keeps their places", async (store) => {
      await store.append(batch(range(1, 3, { receipt: bytes(8) })));
      await store.append(batch([own(1, { owner: "brian" })]));
      await store.add([others("a")]);
      await store.erase("amina", "entity-1");
      const blank = { sealed: bytes(), receipt: null };
      const kept = range(2, 3, { receipt: bytes(8) });
      claimEqual(await store.log("amina", { limit: 10 }), [own(1, blank), ...kept], "its own event is empty");
      claimEqual((await store.get("amina", ["a"]))[0], others("a", blank), "and so is what others wrote");
      claimEqual((await store.get("brian", ["event-0001"]))[0]?.sealed, own(1).sealed, "another owner's is not");
      claimEqual(await store.head("amina"), batch(kept).head, "the head stays");
    }),
    define("has and count agree, for one and for all", async (store) => {
      claimEqual(await store.has("pending", "amina"), false, "nothing at first");
      await store.append(batch([own(1, { owner: "brian" })]));
      claimEqual([await store.has("pending", "amina"), await store.has("pending")], [false, true], "only brian's");
      await store.settle("brian", [{ id: "event-0001", status: "accepted", receipt: null }]);
      claimEqual([await store.has("pending"), await store.has("accepted")], [false, true], "and it is settled");
    }),
    define("keeps small texts by their names", async (store) => {
      await store.setState("cursor", "one");
      await store.setState("cursor", "två ' \u0000");
      await store.setState("__proto__", "x");
      claimEqual(await store.getState("cursor"), "två ' \u0000", "the last one counts");
      claimEqual(await store.getState("__proto__"), "x", "whatever the name");
      claimEqual(await store.getState("constructor"), null, "and nothing else");
    }),
    define("is not changed through objects it was given or gave", async (store) => {
      const given = own(1);
      await store.append(batch([given]));
      given.sealed[0] = 99;
      const got = (await store.log("amina", { limit: 1 }))[0] as StoredEvent;
      got.sealed[0] = 98;
      claimEqual((await store.get("amina", [given.id]))[0]?.sealed, own(1).sealed, "what is stored stays");
    }),
    define("keeps tenants apart", async (store) => {
      const other = await open(newTenant());
      await store.append(batch(range(1, 2)));
      await store.setState("cursor", "here");
      claimEqual(await other.log("amina", { limit: 10 }), [], "no event is seen from another tenant");
      claimEqual(await other.has("pending"), false, "nor counted");
      claimEqual(await other.getState("cursor"), null, "nor any state");
    }),
    define(
      "two of one tenant see each other, and what is stored outlives both",
      async (store, tenantId) => {
        const second = await open(tenantId);
        await store.append(batch([own(1)]));
        claim(!(await second.append(batch([own(1, { id: "other" })]))), "the place is taken for the other too");
        claim(await second.append(batch([own(2)])), "but not the next one");
        await store.setState("cursor", "c");
        await close(store);
        await close(second);
        const third = await open(tenantId);
        claimEqual(await third.log("amina", { limit: 10 }), range(1, 2), "both events are there");
        claimEqual(await third.getState("cursor"), "c", "and the state");
      },
      notShared,
    ),
  ];
}
