import { describe, expect, test } from "vitest";
import type { EntityContent } from "../entities/entity.ts";
import type { JsonObject } from "../json.ts";
import { EventApplierService, unknownType } from "./event-applier-service.ts";

const event = (type: string, data: JsonObject = {}) => ({
  id: "e",
  entityId: "x",
  type,
  data,
  author: null,
  deviceTime: "2026-01-01T00:00:00.000Z",
  sequence: 1,
  baseVersion: 0,
});
const appliers = new EventApplierService();
const after = (before: EntityContent | null, type: string, data?: JsonObject) =>
  appliers.apply(before, event(type, data));
const individual: EntityContent = { type: "individual", data: { a: 1, b: { c: 2 } }, members: [] };
const group: EntityContent = { type: "group", data: {}, members: ["m1"] };

describe("the built-in appliers", () => {
  test("create once", () => {
    expect(after(null, "create-individual", { a: 1, b: null }).content).toEqual({ ...individual, data: { a: 1 } });
    expect(after(null, "create-group").content).toEqual({ ...group, members: [] });
    expect(after(individual, "create-individual")).toEqual({ content: individual, problem: expect.any(String) });
  });

  test("update by field; null removes one; an unknown entity begins with its first change", () => {
    expect(after(individual, "update-individual", { a: null, b: 3 }).content?.data).toEqual({ b: 3 });
    expect(after(null, "update-individual", { a: 1 }).content).toEqual({ ...individual, data: { a: 1 } });
    expect(after(group, "update-group", { name: "x" }).content).toEqual({ ...group, data: { name: "x" } });
    expect(after(group, "update-individual", { a: 1 })).toEqual({ content: group, problem: expect.any(String) });
  });

  test("members come once and go", () => {
    expect(after(group, "add-member", { memberId: "m2" }).content?.members).toEqual(["m1", "m2"]);
    expect(after(group, "add-member", { memberId: "m1" }).content?.members).toEqual(["m1"]);
    expect(after(group, "remove-member", { memberId: "m1" }).content?.members).toEqual([]);
    expect(after(group, "add-member", {}).problem).toMatch(/memberId/);
    expect(after(individual, "add-member", { memberId: "m1" }).problem).toMatch(/group/);
  });

  test("delete", () => {
    expect(after(individual, "delete-entity")).toEqual({ content: null });
  });
});

describe("types of one's own", () => {
  test("are unknown until they are registered, and cannot be registered twice", () => {
    const own = new EventApplierService();
    const visit = event("record-visit", { at: "noon" });
    expect(own.apply(individual, visit)).toEqual({ content: individual, problem: unknownType });
    own.register("record-visit", (entity, { data }) => entity && { ...entity, data: { ...entity.data, visit: data } });
    expect(own.apply(individual, visit).content?.data).toEqual({ ...individual.data, visit: { at: "noon" } });
    expect(() => own.register("record-visit", (entity) => entity)).toThrow(/registered already/);
    expect(() => own.register("create-group", (entity) => entity)).toThrow(/registered already/);
  });

  test("one that throws, gives nonsense, or changes what it is given, leaves the entity as it was", () => {
    const own = new EventApplierService()
      .register("throw", () => {
        throw new Error("no such village");
      })
      .register("nonsense", () => ({ type: 7 }) as never)
      .register("meddle", (entity, { data }) => {
        Object.assign(entity?.data ?? {}, { a: "changed" });
        Object.assign(data, { a: "changed" });
        throw "a text";
      });
    const meddled = event("meddle", { a: 1 });
    expect(own.apply(individual, event("throw"))).toEqual({ content: individual, problem: "no such village" });
    expect(own.apply(individual, event("nonsense")).problem).toMatch(/gave no entity/);
    expect(own.apply(individual, meddled)).toEqual({ content: individual, problem: "a text" });
    expect([individual.data.a, meddled.data.a]).toEqual([1, 1]);
  });
});
