import { hash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { databases } from "../kit/databases.ts";
import { goodPassword } from "../kit/node.ts";
import { type Deployment, deploy, proving } from "../sessions/deployment.ts";

describe.each(databases)("what lies in the database, on $name", (database) => {
  let deployment: Deployment;
  beforeAll(async () => {
    deployment = await deploy(database);
  });
  afterAll(() => deployment?.close());

  /** Every value of every table. */
  async function rows(): Promise<string> {
    const { store } = deployment;
    const tables = await store.db.introspection.getTables();
    expect(tables.length).toBeGreaterThan(10);
    const contents = [];
    for (const { name } of tables) {
      contents.push(JSON.stringify((await sql`select * from ${sql.table(name)}`.execute(store.db)).rows));
    }
    return contents.join("\n");
  }

  /** The bytes on the disk: the database's own where it is a file, and what nodes write beside it. */
  function files(): string {
    const { config } = deployment.database;
    const folders = [deployment.node.config.dataDir, ...(config.kind === "sqlite" ? [dirname(config.file)] : [])];
    return folders
      .flatMap((folder) => readdirSync(folder, { recursive: true, withFileTypes: true }))
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1"))
      .join("\n");
  }

  test("is no token that opens anything, and no password", async () => {
    const answers = [];
    for (const bound of [true, false]) {
      const session = await deployment.signIn({ bound });
      const second = await deployment.node.api.refresh(session.refreshToken, proving(session));
      const third = await deployment.node.api.refresh(second.body.refreshToken, proving(session));
      answers.push(session, second.body, third.body);
    }
    const secrets = answers.flatMap(({ token, refreshToken, deviceToken }) => [
      refreshToken,
      deviceToken,
      token,
      // The last part alone would do, for whoever knows the rest.
      ...[refreshToken, deviceToken, token].map((text) => text.split(".").at(-1) ?? ""),
    ]);
    expect(secrets.every((secret) => secret.length > 40)).toBe(true);

    const atRest = `${await rows()}\n${files()}`;
    const head = answers.at(-1);
    expect(atRest, "this search finds what is there").toContain(hash("sha256", head?.refreshToken ?? "", "base64url"));
    for (const secret of [...secrets, goodPassword]) {
      for (const form of [secret, Buffer.from(secret).toString("hex"), Buffer.from(secret).toString("base64url")]) {
        expect(atRest.includes(form), "a secret lies in the database").toBe(false);
      }
    }
  });
});
