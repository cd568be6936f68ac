import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { loadStaticFiles, negotiate } from "./static-files.ts";

const folder = mkdtempSync(join(tmpdir(), "fieldgate-static-"));
afterAll(() => rmSync(folder, { recursive: true }));

test("files by their paths, of known types alone, in the encoding that is accepted", () => {
  mkdirSync(join(folder, "assets"));
  for (const [name, text] of Object.entries({
    "assets/a.js": "plain",
    "assets/a.js.br": "brotli",
    "assets/a.js.gz": "gzip",
    "b.svg": "<svg/>",
    ".sources": "secret",
    "portal.json": "{}",
  })) {
    writeFileSync(join(folder, name), text);
  }
  const files = loadStaticFiles(folder);
  expect([...files.keys()].toSorted()).toEqual(["assets/a.js", "b.svg"]);
  const script = files.get("assets/a.js");
  const drawing = files.get("b.svg");
  if (!script || !drawing) throw new Error("A file is missing.");
  const sent = (header?: string) => {
    const { body, headers } = negotiate(script, header);
    return [body.toString(), (headers as Record<string, string>)["content-encoding"]];
  };
  expect(sent()).toEqual(["plain", undefined]);
  expect(sent("gzip, deflate, br, zstd")).toEqual(["brotli", "br"]);
  expect(sent("gzip;q=0.5")).toEqual(["gzip", "gzip"]);
  expect(sent("br;q=0, gzip; q=1.0")).toEqual(["gzip", "gzip"]);
  expect(sent("br;q=0.000, identity")).toEqual(["plain", undefined]);
  expect(sent("brotli, x-gzip")).toEqual(["plain", undefined]);
  expect(negotiate(drawing, "br")).toMatchObject({ headers: { "content-type": "image/svg+xml; charset=utf-8" } });
});
