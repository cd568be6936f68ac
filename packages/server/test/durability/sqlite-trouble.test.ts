import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Problem, routes } from "@fieldgate/contract";
import { sql } from "kysely";
import { expect, test } from "vitest";
import type { Answer } from "../kit/api-client.ts";
import { goodPassword } from "../kit/node.ts";
import { type Deployment, deploy, proving, type SignedIn } from "../sessions/deployment.ts";
import { runProgram } from "../store/programs/program.ts";

const folderFor = (name: string) => mkdtempSync(join(tmpdir(), `fieldgate-${name}-`));

async function deployAt(folder: string): Promise<Deployment> {
  const config = { kind: "sqlite", file: join(folder, "fieldgate.db") } as const;
  const deployment = await deploy({ name: "sqlite", fresh: async () => ({ config, drop: async () => {} }) });
  await deployment.node.addWorker({ username: "amina" });
  return deployment;
}

function unavailable(answer: Answer<unknown>): void {
  expect([answer.status, (answer.body as Problem | null)?.code], answer.text).toEqual([503, "unavailable"]);
  expect(Number(answer.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
}

/** Reads go on: tokens are checked, whether this node has seen them or not. */
async function checksGoOn({ node }: Deployment, sessions: readonly SignedIn[]): Promise<void> {
  for (const { token } of sessions) {
    expect((await node.api.checkToken(token)).status).toBe(200);
    expect((await node.api.me(token)).status).toBe(200);
  }
  expect((await node.api.call(routes.health)).status).toBe(200);
}

/** Everyone goes on with the token they have. */
async function allGoOn(deployment: Deployment, sessions: readonly SignedIn[]): Promise<void> {
  const { api } = deployment.node;
  for (const session of sessions) {
    const answer = await api.refresh(session.refreshToken, proving(session));
    expect(answer.status, answer.text).toBe(200);
  }
  expect((await api.login({ username: "amina", password: goodPassword })).status).toBe(200);
}

test("a disk that is full is a 503 for what must be written, and all is well when there is room again", async ({
  onTestFinished,
  skip,
}) => {
  const folder = folderFor("small-disk");
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=3m", "tmpfs", folder]);
  if (mounted.status !== 0) skip("only root can mount a small disk");
  onTestFinished(() => void spawnSync("umount", ["-l", folder]));
  const deployment = await deployAt(folder);
  onTestFinished(() => deployment.close());
  const { api } = deployment.node;
  const [busy, bound] = [
    await deployment.signIn({ username: "amina" }),
    await deployment.signIn({ username: "amina" }),
  ];
  const plain = await deployment.signIn({ username: "amina", bound: false });

  const filler = join(folder, "filler");
  spawnSync("dd", ["if=/dev/zero", `of=${filler}`, "bs=4096"]);
  let answer = await api.refresh(busy.refreshToken, proving(busy));
  for (let tries = 0; tries < 500 && answer.status === 200; tries += 1) {
    answer = await api.refresh(answer.body.refreshToken, proving(busy));
  }
  unavailable(answer);
  const before = [await deployment.row(bound), await deployment.row(plain)];
  for (const session of [bound, plain]) {
    unavailable(await api.refresh(session.refreshToken, proving(session)));
    unavailable(await api.logout({ token: session.token }));
  }
  unavailable(await api.login({ username: "amina", password: goodPassword }));
  unavailable(await api.login({ username: "amina", password: "not the password at all" }));
  await checksGoOn(deployment, [bound, plain]);
  expect([await deployment.row(bound), await deployment.row(plain)]).toEqual(before);

  rmSync(filler);
  await allGoOn(deployment, [bound, plain]);
  const { rows } = await sql`pragma integrity_check`.execute(deployment.store.db);
  expect(rows).toEqual([{ integrity_check: "ok" }]);
});

test("another process that keeps the database to itself is a 503 for what must be written, until it lets go", async ({
  onTestFinished,
}) => {
  const folder = folderFor("locked");
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const deployment = await deployAt(folder);
  onTestFinished(() => deployment.close());
  const { api } = deployment.node;
  const seen = await deployment.signIn({ username: "amina" });
  const unseen = await deployment.signIn({ username: "amina", bound: false });
  expect((await api.checkToken(seen.token)).status).toBe(200);
  const before = [await deployment.row(seen), await deployment.row(unseen)];

  const holder = runProgram("hold-write-lock", join(folder, "fieldgate.db"));
  for await (const _ of holder.lines) break;
  const waiting = Promise.all([
    api.refresh(seen.refreshToken, proving(seen)),
    api.refresh(unseen.refreshToken),
    api.logout({ body: { refreshToken: unseen.refreshToken } }),
    api.login({ username: "amina", password: goodPassword }),
  ]);
  await checksGoOn(deployment, [seen, unseen]);
  for (const answer of await waiting) unavailable(answer);
  await checksGoOn(deployment, [seen, unseen]);
  expect([await deployment.row(seen), await deployment.row(unseen)]).toEqual(before);

  holder.process.stdin?.end();
  await holder.ended;
  await allGoOn(deployment, [seen, unseen]);
});
