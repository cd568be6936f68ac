import fc from "fast-check";
import { expect, test } from "vitest";
import { csvCell, guardCell, unguardCell } from "./formula-guard.ts";

test("what a spreadsheet takes for a formula is guarded, and nothing else is touched", () => {
  for (const cell of ["=1+1", "+254712000001", "-7", "@SUM(A1)", "\t=1", "\r=1"])
    expect(guardCell(cell)).toBe(`'${cell}`);
  for (const cell of ["Amina", "it's", "'quoted", "", "1-2", " =1"]) expect(guardCell(cell)).toBe(cell);
});

test("a guard is taken away without loss, whatever the cell holds", () => {
  const cell = fc.string({ unit: fc.constantFrom("'", "=", "+", "-", "@", "a", "\t", " ") });
  fc.assert(fc.property(cell, (text) => unguardCell(guardCell(text)) === text));
});

test("a cell is quoted where it must be", () => {
  expect(csvCell('say "hi", friend')).toBe('"say ""hi"", friend"');
  expect(csvCell("plain")).toBe("plain");
});
