import { PassThrough, Readable } from "node:stream";
import { expect, test } from "vitest";
import type { CliContext } from "./context.ts";
import { progressLine } from "./progress.ts";

function terminal({ isTTY }: { isTTY: boolean }) {
  let now = 0;
  const stderr = Object.assign(new PassThrough(), { isTTY });
  const cli: CliContext = {
    ...{ env: {}, cwd: "/", stdin: Readable.from([]), stdout: new PassThrough(), stderr, exitCode: 0 },
    clock: { now: () => now, monotonic: () => now, offset: 0 },
    onStopSignal: () => undefined,
    exit: () => undefined,
  };
  const written = () => String(stderr.read() ?? "");
  return { cli, written, wait: (ms: number) => (now += ms) };
}

test("on a terminal a bar with rate and time left, which is cleared away", () => {
  const { cli, written, wait } = terminal({ isTTY: true });
  const line = progressLine(cli, "importing", false);
  line.show({ share: 0, done: 0, facts: "rows" });
  wait(50);
  line.show({ share: 0.01, done: 100, facts: "rows" });
  expect(written().match(/\r/g)).toHaveLength(1);
  wait(29_950);
  line.show({ share: 0.25, done: 60_000, facts: "rows" });
  expect(written()).toBe("\r\x1b[Kimporting [######------------------] 60,000 rows, 2,000 a second, 1:30 left");
  line.end();
  expect(written()).toBe("\r\x1b[K");
});

test("what an earlier run did is not counted as speed", () => {
  const { cli, written, wait } = terminal({ isTTY: true });
  const line = progressLine(cli, "importing", false);
  line.show({ share: 0.5, done: 0, facts: "rows" });
  wait(10_000);
  line.show({ share: 0.6, done: 10_000, facts: "rows" });
  expect(written()).toContain("1,000 a second, 0:40 left");
});

test("elsewhere a line now and then, without a total no guess, and nothing when quiet", () => {
  const { cli, written, wait } = terminal({ isTTY: false });
  const line = progressLine(cli, "importing", false);
  const quiet = progressLine(cli, "importing", true);
  for (let second = 0; second < 11; second += 1) {
    wait(1000);
    line.show({ share: null, done: second * 10, facts: "rows" });
    quiet.show({ share: null, done: second, facts: "rows" });
  }
  line.end();
  expect(written()).toBe("importing 40 rows, 8 a second\nimporting 90 rows, 9 a second\n");
});
