import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { createWorkGate } from "./work-gate.ts";

/** A gate whose tasks end in the order in which they began, and that notes it. */
function watched(options: { parallel: number; queue: number }) {
  const gate = createWorkGate(options);
  const order: string[] = [];
  const ask = (lane: string, name: string) =>
    gate
      .run(lane.split("/"), async () => {
        await sleep(1);
        order.push(name);
      })
      .catch((fault: { code: string }) => fault.code);
  return { ask, order };
}

test("within a lane it is first come, first served; never more at once than allowed", async () => {
  const gate = createWorkGate({ parallel: 2, queue: 10 });
  let running = 0;
  let most = 0;
  const order: number[] = [];
  const ask = (turn: number) =>
    gate.run(["a"], async () => {
      most = Math.max(most, ++running);
      await sleep(2);
      order.push(turn);
      running -= 1;
    });
  await Promise.all(Array.from({ length: 12 }, (_, turn) => ask(turn)));
  expect(most).toBe(2);
  expect(order).toEqual(order.toSorted((a, b) => a - b));
});

test("a task that fails gives its place on", async () => {
  const gate = createWorkGate({ parallel: 1, queue: 1 });
  await expect(gate.run(["a"], () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  await expect(gate.run(["a"], async () => "yes")).resolves.toBe("yes");
});

test("lanes take turns", async () => {
  const { ask, order } = watched({ parallel: 1, queue: 10 });
  await Promise.all([ask("a", "a1"), ask("a", "a2"), ask("a", "a3"), ask("a", "a4"), ask("b", "b1"), ask("b", "b2")]);
  expect(order).toEqual(["a1", "a2", "b1", "a3", "b2", "a4"]);
});

test("a full queue refuses the newest of the longest lane, not those who come rarely", async () => {
  const { ask, order } = watched({ parallel: 1, queue: 3 });
  const flood = Array.from({ length: 6 }, (_, turn) => ask("flood", `f${turn}`));
  const rare = ask("rare", "r");
  expect(await Promise.all(flood)).toEqual([undefined, undefined, undefined, "busy", "busy", "busy"]);
  expect(await rare).toBeUndefined();
  expect(order).toEqual(["f0", "f1", "r", "f2"]);
  expect(await ask("flood", "again")).toBeUndefined();
});

test("says beforehand whether there is room, and for whom", async () => {
  const gate = createWorkGate({ parallel: 1, queue: 2 });
  const under = Array.from({ length: 3 }, () => gate.run(["flood"], () => sleep(1)));
  expect(() => gate.demandRoom(["flood"])).toThrow(expect.objectContaining({ code: "busy" }));
  expect(() => gate.demandRoom(["rare"])).not.toThrow();
  await Promise.all(under);
  expect(() => gate.demandRoom(["flood"])).not.toThrow();
});

test("where all lanes are equally short the newcomer is refused, and without a queue everyone who would wait", async () => {
  const short = watched({ parallel: 1, queue: 2 });
  expect(
    await Promise.all([short.ask("a", "a"), short.ask("b", "b"), short.ask("c", "c"), short.ask("d", "d")]),
  ).toEqual([undefined, undefined, undefined, "busy"]);
  const none = watched({ parallel: 1, queue: 0 });
  expect(await Promise.all([none.ask("a", "a"), none.ask("b", "b")])).toEqual([undefined, "busy"]);
});

test("lanes within a lane take turns, while the wide ones do", async () => {
  const { ask, order } = watched({ parallel: 1, queue: 20 });
  const flood = [1, 2, 3, 4, 5].map((turn) => ask("a/flood", `f${turn}`));
  await Promise.all([...flood, ask("a/rare", "r1"), ask("a/rare", "r2"), ask("b/x", "x1"), ask("b/y", "y1")]);
  expect(order).toEqual(["f1", "f2", "x1", "r1", "y1", "f3", "r2", "f4", "f5"]);
});

test("a flood from one place costs that place alone, in its own tenant too", async () => {
  const { ask, order } = watched({ parallel: 1, queue: 4 });
  const flood = [0, 1, 2, 3, 4, 5].map((turn) => ask("a/flood", `f${turn}`));
  const rare = [ask("a/known", "k"), ask("a/other", "o"), ask("b/x", "x")];
  expect(await Promise.all(flood)).toEqual([undefined, undefined, "busy", "busy", "busy", "busy"]);
  expect(await Promise.all(rare)).toEqual([undefined, undefined, undefined]);
  expect(order).toEqual(["f0", "f1", "x", "k", "o"]);
});

test("the longest lane of the longest gives up its place, not the longest of all", async () => {
  const { ask } = watched({ parallel: 1, queue: 7 });
  const running = ask("z/z", "running");
  const many = ["a/1", "a/2", "a/3", "a/3", "a/4"].map((lane, turn) => ask(lane, `a${turn}`));
  const two = [ask("b/1", "b1"), ask("b/1", "b2")];
  // Lane b/1 is as long as a/3, yet the tenant a is longer than b: its longest lane loses its newest.
  expect(await ask("c/1", "c")).toBeUndefined();
  expect(await Promise.all(many)).toEqual([undefined, undefined, undefined, "busy", undefined]);
  expect(await Promise.all([running, ...two])).toEqual([undefined, undefined, undefined]);
});

test("where two tenants wait alike, a newcomer takes the place of their own tenant's longest lane, or none", async () => {
  const { ask } = watched({ parallel: 1, queue: 4 });
  const running = ask("z/z", "running");
  const waiting = ["a/1", "a/1", "b/flood", "b/flood"].map((lane, turn) => ask(lane, `w${turn}`));
  const [rare, again] = [ask("b/rare", "r"), ask("b/flood", "again")];
  expect(await again).toBe("busy");
  expect(await rare).toBeUndefined();
  expect(await Promise.all(waiting)).toEqual([undefined, undefined, undefined, "busy"]);
  await running;
});
