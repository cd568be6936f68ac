import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { DatabaseConfig } from "../../src/config/config.ts";
import { ApiClient } from "../kit/api-client.ts";
import { testSecret } from "../kit/node.ts";
import { publicUrl } from "../sessions/deployment.ts";

export interface NodeProcessSettings {
  readonly database: DatabaseConfig;
  readonly dataDir: string;
  /** The deployment's secret, in base64url. */
  readonly secret: string;
  readonly publicUrl: string;
}

/** A node that can be killed like any other process. */
export interface NodeProcess {
  readonly api: ApiClient;
  /** `kill -9`: nothing is finished, nothing is tidied up. Resolves when it is gone. */
  kill(): Promise<void>;
}

const program = fileURLToPath(new URL("serve.ts", import.meta.url));

/** Processes of one test share the code that the first of them compiled. */
export function makeCompileCache(): { readonly folder: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), "fieldgate-compiled-"));
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

export async function startNodeProcess(database: DatabaseConfig, compileCache: string): Promise<NodeProcess> {
  const dataDir = mkdtempSync(join(tmpdir(), "fieldgate-killed-"));
  const settings: NodeProcessSettings = { database, dataDir, secret: testSecret.toString("base64url"), publicUrl };
  const child = spawn(process.execPath, [program, JSON.stringify(settings)], {
    env: { ...process.env, NODE_COMPILE_CACHE: compileCache },
    stdio: ["pipe", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  const kill = async () => {
    child.kill("SIGKILL");
    await exited;
    rmSync(dataDir, { recursive: true, force: true });
  };
  for await (const url of createInterface({ input: child.stdout })) {
    return { api: new ApiClient(url, publicUrl), kill };
  }
  await kill();
  throw new Error("The node did not start.");
}
