import { expect, test } from "vitest";
import { type Report, tally } from "./tally.ts";

const passed: Report = {
  numPassedTests: 3,
  numFailedTests: 0,
  numPendingTests: 1,
  numTodoTests: 1,
  testResults: [{ status: "passed", assertionResults: [{ status: "passed" }] }],
};

test("a good run counts its tests", () => {
  expect(tally(passed, 0, 0)).toEqual({ passed: 3, failed: 0, skipped: 2 });
});

test("each failed check is a failed test", () => {
  expect(tally(passed, 0, 2).failed).toBe(2);
});

test("a failed test is counted once, although its file failed with it", () => {
  const testResults = [{ status: "failed", assertionResults: [{ status: "failed" }] }];
  expect(tally({ ...passed, numFailedTests: 1, testResults }, 1, 0).failed).toBe(1);
});

test("a file that does not load, or whose hook fails, is a failed test", () => {
  const testResults = [
    { status: "failed", assertionResults: [] },
    { status: "failed", assertionResults: [{ status: "skipped" }] },
  ];
  expect(tally({ ...passed, testResults }, 1, 0).failed).toBe(2);
});

test("an error outside of every test is a failed test", () => {
  expect(tally(passed, 1, 0).failed).toBe(1);
  expect(tally(passed, null, 0).failed).toBe(1);
});

test("a run without a report, or without a test, has failed", () => {
  expect(tally(null, 0, 0).failed).toBe(1);
  expect(tally({ ...passed, numPassedTests: 0, testResults: [] }, 0, 0).failed).toBe(1);
});
