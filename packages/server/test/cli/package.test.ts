import { execFileSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { CommandLine } from "../kit/command-line.ts";
import { serve } from "../kit/served.ts";

const root = join(import.meta.dirname, "../../../..");
const password = "seven-lanterns-by-the-sea";
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "fieldgate-service-"));
  const run = (command: string, args: readonly string[]) =>
    execFileSync(command, args, { cwd: folder, encoding: "utf8" });
  const packed = run(process.execPath, [join(root, "scripts/pack.ts"), join(folder, "packed"), "contract", "server"]);
  await writeFile(join(folder, "package.json"), `{ "name": "empty", "private": true }`);
  const quietly = ["--silent", "--prefer-offline", "--no-audit", "--no-fund"];
  run("npm", ["install", ...quietly, ...packed.trim().split("\n")]);
}, 120_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

test("the published service runs from an empty project, with its pages and its command line", async () => {
  const installed = join(folder, "node_modules/@fieldgate/server/bin/fieldgate.js");
  const line = new CommandLine({ FIELDGATE_DEFAULT_TENANT: "kenya" }, installed);
  expect((await line.run(["--version"])).stdout.trim()).toMatch(/^\d+\.\d+\.\d+$/);
  const flags = ["--dev", "--tenant", "kenya", "--admin", "amina", "--password-stdin"];
  expect(await line.run(["init", ...flags], { input: password })).toMatchObject({ code: 0 });

  const served = await serve(line, ["--dev"], { FIELDGATE_PORT: "0" });
  const page = async (path: string) => {
    const response = await fetch(new URL(path, served.url));
    return { status: response.status, text: await response.text() };
  };
  expect(await page("/")).toMatchObject({ status: 200, text: expect.stringContaining("<fieldgate-") });
  expect(await page("/docs")).toMatchObject({ status: 200 });
  const signIn = await fetch(new URL("/api/users/login", served.url), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ username: "amina", password }),
  });
  expect(await signIn.json()).toMatchObject({ username: "amina", tenantId: "kenya" });
  expect(await served.stop()).toBe(0);
}, 60_000);
