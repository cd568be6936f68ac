import { expect, test } from "vitest";
import type { Entity } from "./entities/entity.ts";
import { type Search, toMatcher } from "./search.ts";

const amina: Entity = {
  id: "1",
  type: "individual",
  data: { names: { given: "Amina", family: "Yusuf" }, phones: ["+254712345678"], age: 34, active: true },
  members: [],
  version: 1,
  createdAt: "",
  updatedAt: "",
  unconfirmed: false,
};

test.each<[Search, boolean]>([
  ["amina", true],
  ["YUSUF ami", true],
  ["amina wanjiru", false],
  ["5678", true],
  ["34", true],
  ["", true],
  [{ type: "individual" }, true],
  [{ type: "group" }, false],
  [{ data: { names: { given: "amina" } } }, true],
  [{ data: { names: { given: "ami" } } }, false],
  [{ data: { phones: ["+254712345678"] } }, true],
  [{ data: { phones: ["+1"] } }, false],
  [{ data: { age: 34, active: true } }, true],
  [{ data: { age: "34" } }, false],
  [{ data: { toString: "x" } }, false],
  [(entity) => entity.version === 1, true],
])("%j is found: %s", (search, isFound) => {
  expect(toMatcher(search)(amina)).toBe(isFound);
});
