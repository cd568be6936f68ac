import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { Statements } from "./statements.ts";

test("a text is prepared once, and the texts unused for longest are forgotten", () => {
  const statements = new Statements(new DatabaseSync(":memory:"), 3);
  const one = statements.get("select 1");
  expect(statements.get("select 1")).toBe(one);
  statements.get("select 2");
  statements.get("select 3");
  statements.get("select 1");
  statements.get("select 4");
  expect(statements.size).toBe(3);
  expect(statements.get("select 1")).toBe(one);
});

test("knows which statements answer with rows", () => {
  const db = new DatabaseSync(":memory:");
  db.exec("create table t (a integer)");
  const statements = new Statements(db);
  expect(statements.get("select a from t").returnsRows).toBe(true);
  expect(statements.get("insert into t values (1)").returnsRows).toBe(false);
  expect(statements.get("insert into t values (1) returning a").returnsRows).toBe(true);
});
