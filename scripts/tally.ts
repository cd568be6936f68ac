/** The part of vitest's JSON report that is counted. */
export interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly numTodoTests: number;
  readonly testResults: readonly {
    readonly status: string;
    readonly assertionResults: readonly { readonly status: string }[];
  }[];
}

export interface Tally {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/**
 * Counts a run. What failed outside of any test counts as one failed test: a check, a file that does not load, a
 * hook, an error that nobody caught, a run without a report, a run without a test.
 */
export function tally(report: Report | null, exitCode: number | null, failedChecks: number): Tally {
  if (report === null) return { passed: 0, failed: failedChecks + 1, skipped: 0 };
  const brokenFiles = report.testResults.filter(
    (file) => file.status === "failed" && !file.assertionResults.some(({ status }) => status === "failed"),
  ).length;
  const failed = report.numFailedTests + brokenFiles;
  const ranNothing = report.numPassedTests + failed === 0;
  const failedUnseen = failed === 0 && (exitCode !== 0 || ranNothing) ? 1 : 0;
  return {
    passed: report.numPassedTests,
    failed: failed + failedUnseen + failedChecks,
    skipped: report.numPendingTests + report.numTodoTests,
  };
}
