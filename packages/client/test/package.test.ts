import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "vite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const root = join(import.meta.dirname, "../../..");

/** Uses every entry of the packages, and what its types promise. */
const program = `
import { AuthManager, AuthError, NetworkError, type AuthAdapter, type AuthState } from "@fieldgate/client";
import { IdAuthAdapter, StepUpRequiredError } from "@fieldgate/client/id";
import { OidcAuthAdapter } from "@fieldgate/client/oidc";
import { OtpAuthAdapter, SelectionRequiredError } from "@fieldgate/client/otp";
import { FileAuthStorageAdapter } from "@fieldgate/client/storage/file";
import { IndexedDbAuthStorageAdapter } from "@fieldgate/client/storage/indexed-db";
import { MemoryAuthStorageAdapter } from "@fieldgate/client/storage/memory";
import { adapterConformance, storageConformance } from "@fieldgate/client/testing";
import { EntityDataManager, EventApplierService, InternalSyncManager, type Entity } from "@fieldgate/entity-data";
import { IndexedDbEntityStore, IndexedDbEventStore } from "@fieldgate/entity-data/stores/indexed-db";
import { MemoryEntityStore, MemoryEventStore } from "@fieldgate/entity-data/stores/memory";
import { SqliteEntityStore, SqliteEventStore } from "@fieldgate/entity-data/stores/sqlite";
import { entityStoreConformance, eventStoreConformance } from "@fieldgate/entity-data/testing";

const server = "https://auth.example.org";
const auth = new AuthManager([{ type: "otp", fields: { serverUrl: server } }], server, new MemoryAuthStorageAdapter("demo"));
const otp = (): OtpAuthAdapter => auth.adapter("otp");
const id = (): IdAuthAdapter => auth.adapter("id");
const oidc = (): OidcAuthAdapter => auth.adapter("keycloak");
const other = (): AuthAdapter => auth.adapter("something else");
export const nameOf = (state: AuthState): string => {
  switch (state.status) {
    case "signedIn":
    case "refreshing":
    case "offlineGrace":
    case "expired":
      return state.username;
    case "signingIn":
      return state.provider;
    case "signedOut":
      return state.reason;
    case "uninitialized":
      return "";
  }
};
// @ts-expect-error: a key that does not exist has none of the methods of otp
export const wrong = () => other().requestOtp("x");
// @ts-expect-error: login takes a username and a password
export const wrongToo = () => auth.login({ user: "x" });

export const all = { AuthError, NetworkError, StepUpRequiredError, SelectionRequiredError, FileAuthStorageAdapter, IndexedDbAuthStorageAdapter, adapterConformance, otp, id, oidc };
for (const { run } of storageConformance({ create: (tenantId) => new MemoryAuthStorageAdapter(tenantId), shared: false }).slice(0, 3)) await run();
export const stores = { IndexedDbEntityStore, IndexedDbEventStore, SqliteEntityStore, SqliteEventStore };
for (const { run } of eventStoreConformance({ create: () => new MemoryEventStore(), shared: false }).slice(0, 3)) await run();
for (const { run } of entityStoreConformance({ create: () => new MemoryEntityStore(), shared: false }).slice(0, 3)) await run();
await auth.initialize();
const data = new EntityDataManager(new MemoryEventStore(), new MemoryEntityStore(), new EventApplierService(), undefined, new InternalSyncManager(), auth);
await data.submitForm({ type: "create-individual", data: { names: { given: "Amina" } } });
const people: Entity[] = await data.getAllEntities();
console.log(auth.state.status, otp().constructor.name, Object.keys(all).length, people.length);
await data.close();
await auth.close();
`;

describe("the published package", () => {
  let folder: string;
  const run = (command: string, ...args: string[]) => execFileSync(command, args, { cwd: folder, encoding: "utf8" });

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "fieldgate-package-"));
    const packed = execFileSync(
      process.execPath,
      [join(root, "scripts/pack.ts"), join(folder, "packed"), "contract", "client", "entity-data"],
      {
        encoding: "utf8",
      },
    );
    const tarballs = packed.trim().split("\n");
    expect(tarballs).toHaveLength(3);
    await writeFile(join(folder, "package.json"), `{ "name": "empty", "private": true, "type": "module" }`);
    run("npm", "install", "--silent", "--prefer-offline", "--no-audit", "--no-fund", ...tarballs);
    await mkdir(join(folder, "src"));
    await writeFile(join(folder, "src/main.ts"), program);
  }, 120_000);
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test("runs in Node as it is installed", () => {
    expect(run(process.execPath, "src/main.ts").trim()).toBe("signedOut OtpAuthAdapter 10 1");
  });

  test.each(["nodenext", "bundler"])("has the types it promises, resolved as %s", async (resolution) => {
    const compilerOptions = {
      strict: true,
      noEmit: true,
      target: "ES2023",
      lib: ["ES2023", "DOM"],
      module: resolution === "nodenext" ? "NodeNext" : "ESNext",
      moduleResolution: resolution,
      types: ["node"],
      // Once with the libraries' own types, which takes its time.
      skipLibCheck: resolution === "bundler",
      typeRoots: [join(root, "node_modules/@types")],
    };
    await writeFile(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["src"] }));
    run(join(root, "node_modules/.bin/tsc"), "-p", ".");
  });

  test("is built for a browser without a trace of Node or of the schemas of the contract", async () => {
    const entry = join(folder, "src/page.js");
    await writeFile(
      entry,
      `import { AuthManager } from "@fieldgate/client";
       import { IndexedDbAuthStorageAdapter } from "@fieldgate/client/storage/indexed-db";
       globalThis.auth = [AuthManager, IndexedDbAuthStorageAdapter];`,
    );
    const outputs = await build({
      root: folder,
      configFile: false,
      logLevel: "error",
      build: { write: false, lib: { entry, formats: ["es"], fileName: "page" } },
    });
    const files = (Array.isArray(outputs) ? outputs : [outputs]).flatMap((each) =>
      "output" in each ? each.output : [],
    );
    const code = files.map((file) => (file.type === "chunk" ? file.code : "")).join("\n");
    expect(code).toContain("indexedDB");
    expect(code).not.toMatch(/node:|typebox|createCipheriv/i);
  });

  test.each(["contract", "client"])("%s is in order by the rules of the registry's users", (name) => {
    const tarball = join(folder, `packed/fieldgate-${name}-0.1.0.tgz`);
    const tool = (file: string, ...args: string[]) => run(process.execPath, join(root, "node_modules", file), ...args);
    expect(tool("publint/src/cli.js", "run", "--strict", tarball)).toContain("All good!");
    // `node10` and `require` are none of what it promises: it is for ES modules and resolvers that know `exports`.
    tool("@arethetypeswrong/cli/dist/index.js", tarball, "--profile", "esm-only", "--no-definitely-typed");
  });

  test("says what it depends on, and nothing else is in it", async () => {
    const manifest = JSON.parse(await readFile(join(folder, "node_modules/@fieldgate/client/package.json"), "utf8"));
    expect(manifest.dependencies).toEqual({ "@fieldgate/contract": "0.1.0", oauth4webapi: "3.8.8" });
    expect(manifest.devDependencies).toBeUndefined();
    const listed = run("tar", "-tzf", join(folder, "packed/fieldgate-client-0.1.0.tgz"));
    expect(listed).not.toMatch(/\.test\.|(?<!\.d)\.ts$/m);
  });
});
