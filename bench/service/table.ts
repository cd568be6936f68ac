import { type Finding, isMet } from "./measures/measure.ts";

/** The findings as a table for a terminal, one line each. */
export function table(findings: readonly Finding[]): string {
  const rows = [
    ["", "Fieldgate", "beside", "median (min–max)", "target", ""],
    ...findings.map((finding) => [
      finding.name,
      finding.ours,
      finding.theirs,
      spread(finding),
      target(finding),
      isMet(finding) ? "met" : "MISSED",
    ]),
  ];
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  const lines = rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
  const [head = "", ...body] = lines;
  return [head, "─".repeat(Math.max(...lines.map((line) => line.length))), ...body].join("\n");
}

function spread({ spread: { median, min, max }, unit }: Finding): string {
  return `${number(median)} (${number(min)}–${number(max)})${unit === "ratio" ? "" : ` ${unit}`}`;
}

function target(finding: Finding): string {
  const { target: bound, unit } = finding;
  const suffix = unit === "ratio" ? "" : ` ${unit}`;
  return "atLeast" in bound ? `≥ ${bound.atLeast}${suffix}` : `≤ ${bound.atMost}${suffix}`;
}

function number(value: number): string {
  return value >= 20 ? value.toFixed(0) : value.toFixed(2);
}
