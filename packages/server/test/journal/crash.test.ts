import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { databases } from "../kit/databases.ts";
import { errorsOf, eventsOfKeys, insertEvents, type JournalKit, openJournalKit } from "./journal-kit.ts";

const script = fileURLToPath(new URL("journal-child.ts", import.meta.url));

describe.each(databases)("the journal in processes of their own on $name", (database) => {
  let kit: JournalKit;
  beforeEach(async () => {
    kit = await openJournalKit(database);
  });
  afterEach(() => kit.close());

  const start = (task: string, ...flags: string[]): ChildProcess =>
    spawn(process.execPath, [...flags, script, task, JSON.stringify(kit.database.config)], {
      stdio: ["ignore", "pipe", "ignore"],
    });
  const sealed = async () => {
    const row = await kit.store.db
      .selectFrom("journal_events")
      .select((eb) => eb.fn.count<number>("seq").as("count"))
      .executeTakeFirstOrThrow();
    return Number(row.count);
  };

  it("goes on without a gap after a sealer was killed in the middle, again and again", {
    timeout: 60_000,
  }, async () => {
    await insertEvents(kit.store, "north", 30_000);
    const milestones: number[] = [];
    for (let round = 0; round < 3; round++) {
      const before = await sealed();
      const child = start("seal");
      await expect.poll(sealed, { timeout: 20_000, interval: 5 }).toBeGreaterThan(before);
      child.kill("SIGKILL");
      const [, signal] = await once(child, "exit");
      expect(signal).toBe("SIGKILL");
      milestones.push(await sealed());
    }
    expect(milestones.at(-1)).toBeLessThan(30_000);
    await kit.seal();
    const result = await kit.verify();
    expect(errorsOf(result)).toEqual([]);
    expect(result).toMatchObject({ events: 30_000 + eventsOfKeys, unsealed: 0 });
  });

  it("verifies a long journal in little memory", { timeout: 60_000 }, async () => {
    await insertEvents(kit.store, "north", 50_000);
    await kit.seal();
    const child = start("verify", "--max-old-space-size=28");
    let output = "";
    child.stdout?.on("data", (chunk) => {
      output += chunk;
    });
    const [code] = await once(child, "exit");
    expect(code).toBe(0);
    expect(JSON.parse(output)).toMatchObject({ ok: true, events: 50_000 + eventsOfKeys });
  });
});
