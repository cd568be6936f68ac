import { describe, expect, it } from "vitest";
import { formatTable, formatTime } from "./table.ts";

describe("formatTable", () => {
  it("puts columns under each other, whatever the script", () => {
    expect(
      formatTable(
        ["NAME", "STATE"],
        [
          ["amina", "on"],
          ["李小龙", "off"],
          ["José", "on"],
        ],
      ),
    ).toBe(["NAME    STATE", "amina   on", "李小龙  off", "José    on"].join("\n"));
  });

  it("sends no control character to the terminal", () => {
    expect(formatTable(["A"], [["\u001b[31mred\u0007"]])).toBe("A\n\uFFFD[31mred\uFFFD");
  });
});

it("formatTime tells UTC to the second", () => {
  expect(formatTime(Date.UTC(2026, 0, 2, 3, 4, 5, 678))).toBe("2026-01-02 03:04:05Z");
  expect(formatTime(null)).toBe("-");
});
