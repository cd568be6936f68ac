import { describe, expect, it } from "vitest";
import { usageMistake } from "./usage-mistake.ts";

describe("a wrong command line is told without its values", () => {
  it.each([
    ["error: too many arguments for 'add'. Expected 1 argument but got 2: amina, it's: a\nsecret.\n", true],
    ["error: unknown option '--password=it's a\nsecret'\n(Did you mean --no-password?)\n", true],
    ["error: unknown option '-psecret'\n", true],
    ["error: unknown option '--token=secret'\n", false],
  ])("%j", (text, takesPassword) => {
    const told = usageMistake(text, takesPassword);
    expect(told).not.toContain("secret");
    expect(told).not.toContain("--no-password");
    expect(told.includes("--password-stdin")).toBe(takesPassword);
  });

  it("everything else stays", () => {
    for (const text of [
      "error: unknown option '--jsn'\n(Did you mean --json?)\n",
      "error: missing required argument 'tenant'\n",
    ]) {
      expect(usageMistake(text, true)).toBe(text);
    }
  });
});
