import { setTimeout as sleep } from "node:timers/promises";
import { StoreUnavailable } from "../../store/store.ts";
import type { InputRules } from "../person-columns.ts";
import { readPerson } from "../person-input.ts";
import { type ImportRow, planBatch, type RowProblem } from "./plan-batch.ts";
import type { SourceRow } from "./source-row.ts";
import { type BatchContext, type BatchOutcome, outcomeOf, writeBatch } from "./write-batch.ts";

export interface ImportCounts {
  readonly rows: number;
  readonly added: number;
  readonly changed: number;
  readonly unchanged: number;
  readonly rejected: number;
  readonly warnings: number;
}

/** A remark on a row, for the reject file. */
export interface RowRemark extends RowProblem {
  readonly outcome: "rejected" | "warning";
}

export interface ImportTask extends BatchContext {
  readonly rows: AsyncIterable<readonly SourceRow[]>;
  readonly rules: InputRules;
  readonly batchSize: number;
  /** Rows that begin before this line were imported by an earlier run. */
  readonly fromLine: number;
  /** Look at everything and write nothing. */
  readonly dryRun: boolean;
  /** Told after each batch, which is then in the database for good. */
  onBatch(batch: {
    readonly line: number;
    readonly counts: ImportCounts;
    readonly remarks: readonly RowRemark[];
  }): Promise<void>;
  /** Asks to stop: the batch under way is finished. */
  readonly signal: AbortSignal;
}

export interface ImportEnd {
  readonly counts: ImportCounts;
  /** The last line that was dealt with. */
  readonly line: number;
  /** Whether all of the file was. */
  readonly complete: boolean;
}

/** Imports the rows of a file in batches, whatever their number, in the memory of a few of them. */
export async function importPeople(task: ImportTask): Promise<ImportEnd> {
  const counts = { rows: 0, added: 0, changed: 0, unchanged: 0, rejected: 0, warnings: 0 };
  let batch: ImportRow[] = [];
  let inBatch = new Set<string>();
  let remarks: RowRemark[] = [];
  let line = task.fromLine - 1;

  async function flush(): Promise<void> {
    const outcome = batch.length === 0 ? none : await settle(task, batch);
    counts.added += outcome.added;
    counts.changed += outcome.changed;
    counts.unchanged += outcome.unchanged;
    remarks.push(...outcome.problems.map((problem) => ({ ...problem, outcome: "rejected" as const })));
    counts.rejected += new Set(
      remarks.filter(({ outcome }) => outcome === "rejected").map((remark) => remark.line),
    ).size;
    counts.warnings += remarks.filter((remark) => remark.outcome === "warning").length;
    const told = remarks.sort((a, b) => a.line - b.line);
    batch = [];
    inBatch = new Set();
    remarks = [];
    await task.onBatch({ line, counts: { ...counts }, remarks: told });
  }

  for await (const group of task.rows) {
    for (const source of group) {
      if (source.line < task.fromLine) continue;
      const { row, told } = readRow(source, task.rules);
      // A second row of the same person has to see what the first one did.
      const isFull = batch.length >= task.batchSize || remarks.length >= task.batchSize;
      if (isFull || (row && inBatch.has(row.input.externalId))) await flush();
      if (task.signal.aborted) return { counts, line, complete: false };
      counts.rows += 1;
      line = source.line;
      remarks.push(...told);
      if (!row) continue;
      batch.push(row);
      inBatch.add(row.input.externalId);
    }
  }
  await flush();
  return { counts, line, complete: true };
}

const none: BatchOutcome = { added: 0, changed: 0, unchanged: 0, problems: [] };

function readRow(source: SourceRow, rules: InputRules): { readonly row: ImportRow | null; readonly told: RowRemark[] } {
  const { line, data } = source;
  const { input, problems, warnings } =
    source.problems.length > 0 ? { ...source, input: {}, warnings: [] } : readPerson(source.values, rules);
  const { externalId } = input;
  const missing = { field: "external_id", reason: "is missing" };
  const found = problems.length === 0 && !externalId ? [missing] : problems;
  const remark = (outcome: RowRemark["outcome"]) => (problem: { field: string; reason: string }) => ({
    ...{ line, data, outcome, field: problem.field, reason: problem.reason },
  });
  const told = [...found.map(remark("rejected")), ...warnings.map(remark("warning"))];
  return { row: found.length > 0 || !externalId ? null : { line, data, input: { ...input, externalId } }, told };
}

const outageTries = 5;

/** An overloaded database gets another chance; one that stays away ends the import, which can be resumed. */
async function settle(task: ImportTask, batch: readonly ImportRow[]): Promise<BatchOutcome> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      if (!task.dryRun) return await writeBatch(task, batch);
      return outcomeOf(await planBatch(task.store, await task.dataKeys.cipher(task.tenantId), batch));
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || attempt === outageTries || task.signal.aborted) throw error;
    }
    await sleep(attempt * 500);
  }
}
