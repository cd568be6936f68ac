import { expect, test } from "vitest";
import { StatementNames } from "./statement-names.ts";

test("one text has one name; beyond the limit there are no more", () => {
  const names = new StatementNames(2);
  const first = names.nameOf("select 1");
  const second = names.nameOf("select 2");
  expect(first).toBeDefined();
  expect(second).not.toBe(first);
  expect(names.nameOf("select 1")).toBe(first);
  expect(names.nameOf("select 3")).toBeUndefined();
  expect(names.nameOf("select 2")).toBe(second);
});
