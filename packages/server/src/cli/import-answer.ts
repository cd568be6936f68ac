import type { ImportCounts } from "../people/import/import-people.ts";
import type { Answer } from "./context.ts";

export interface FinishedImport {
  readonly tenantId: string;
  readonly importId: string;
  readonly counts: ImportCounts;
  /** The reject file; null where it was not needed. */
  readonly rejects: string | null;
  readonly dryRun: boolean;
  readonly seconds: number;
}

/** What an import has to say at its end. */
export function importAnswer({ tenantId, importId, counts, rejects, dryRun, seconds }: FinishedImport): Answer {
  const number = (value: number) => value.toLocaleString("en");
  const would = dryRun ? "would be " : "";
  const lines = [
    `${number(counts.rows)} rows for ${tenantId} in ${number(Math.round(seconds))} s: ${number(counts.added)} ${would}added, ` +
      `${number(counts.changed)} ${would}changed, ${number(counts.unchanged)} as they were, ${number(counts.rejected)} rejected.`,
    ...(counts.warnings > 0 ? [`${number(counts.warnings)} warnings.`] : []),
    ...(rejects === null ? [] : [`Lines and reasons are in ${rejects}.`]),
    ...(dryRun ? ["Nothing was changed."] : []),
  ];
  return {
    json: { tenantId, importId, dryRun, ...counts, rejects, seconds: Math.round(seconds * 10) / 10 },
    text: lines.join("\n"),
    exitCode: counts.rejected > 0 ? 1 : 0,
  };
}

/** The counts of a run and of the one it went on from. */
export function addCounts(a: ImportCounts | undefined, b: ImportCounts): ImportCounts {
  if (!a) return b;
  return {
    rows: a.rows + b.rows,
    added: a.added + b.added,
    changed: a.changed + b.changed,
    unchanged: a.unchanged + b.unchanged,
    rejected: a.rejected + b.rejected,
    warnings: a.warnings + b.warnings,
  };
}
