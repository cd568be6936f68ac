import { readFileSync } from "node:fs";
import { errorCodes } from "@fieldgate/contract";
import { expect, test } from "vitest";
import { errorsDocument } from "./errors-document.ts";

test("docs/errors.md is what `npm run docs` writes", () => {
  const written = readFileSync(new URL("../docs/errors.md", import.meta.url), "utf8");
  expect(written, "Run `npm run docs` and commit what it changed.").toBe(errorsDocument());
});

test("it has a heading for each code, once", () => {
  const headings = [...errorsDocument().matchAll(/^### (\w+)$/gm)].map(([, code]) => code);
  expect(headings.toSorted()).toEqual(errorCodes.toSorted());
});
