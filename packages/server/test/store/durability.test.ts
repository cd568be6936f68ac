import { describe, expect, test } from "vitest";
import { databases } from "../kit/databases.ts";
import { freshStore } from "./fresh-store.ts";
import { runProgram } from "./programs/program.ts";

describe.each(databases)("kill -9 on $name", ({ fresh }) => {
  test("loses nothing that was acknowledged, and leaves nothing half done", async () => {
    const { config, another } = await freshStore(fresh);
    for (const lines of [1, 40, 90]) {
      const program = runProgram("commit-until-killed", JSON.stringify(config));
      const acknowledged: string[] = [];
      for await (const line of program.lines) {
        acknowledged.push(line);
        if (acknowledged.length === lines) program.process.kill("SIGKILL");
      }
      expect(await program.ended).toBeNull();
      expect(acknowledged.length).toBeGreaterThanOrEqual(lines);

      const store = await another();
      const rows = await store.db.selectFrom("deployment").select(["name", "value"]).execute();
      const kept = new Set(rows.map((row) => row.name));
      expect(acknowledged.filter((name) => !kept.has(name))).toEqual([]);
      expect(rows.filter((row) => row.value !== "whole")).toEqual([]);
      // One transaction may have been committed without its acknowledgement being printed.
      expect(rows.length - acknowledged.length).toBeLessThanOrEqual(1);
      await store.db.deleteFrom("deployment").execute();
    }
  });
});
