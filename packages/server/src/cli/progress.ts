import type { OnProgress } from "../backup/format.ts";
import type { CliContext } from "./context.ts";

export interface Progress {
  readonly onProgress: OnProgress;
  /** Clears the bar away. */
  end(): void;
}

/** Shows how far a long command over rows of tables has come. */
export function showProgress(cli: CliContext, verb: string, quiet: boolean): Progress {
  const line = progressLine(cli, verb, quiet);
  return {
    onProgress({ done, total, table }) {
      const share = total === 0 ? 1 : Math.min(1, done / total);
      line.show({ share, done, facts: `of ${number(total)} rows (${table})` });
    },
    end: line.end,
  };
}

export interface ProgressLine {
  show(progress: ProgressFacts): void;
  /** Clears the bar away. */
  end(): void;
}

export interface ProgressFacts {
  /** How much of all is done, from 0 to 1; null where nobody knows how much there is. */
  readonly share: number | null;
  /** How many are done: the rate is measured by it. */
  readonly done: number;
  /** What they are. */
  readonly facts: string;
}

const barWidth = 24;
/** Before this much time has passed a guess of the rest is worth nothing. */
const guessAfterMs = 2000;

/** A bar on a terminal, a line now and then elsewhere, nothing when quiet. */
export function progressLine(cli: CliContext, verb: string, quiet: boolean): ProgressLine {
  const isTerminal = "isTTY" in cli.stderr && cli.stderr.isTTY === true;
  const everyMs = isTerminal ? 100 : 5000;
  const start = cli.clock.monotonic();
  let shownAt = isTerminal ? Number.NEGATIVE_INFINITY : start;
  let isShown = false;
  // What was done before, such as by an earlier run, says nothing of this one's speed.
  let first: { readonly at: number; readonly share: number } | undefined;
  return {
    show(progress) {
      const now = cli.clock.monotonic();
      first ??= { at: now, share: progress.share ?? 0 };
      if (quiet || now - shownAt < everyMs) return;
      shownAt = now;
      isShown = true;
      const elapsed = now - start;
      const rate = Math.round(progress.done / Math.max(0.001, elapsed / 1000));
      const left =
        progress.share === null ? "" : timeLeft(now - first.at, progress.share - first.share, 1 - progress.share);
      const facts = `${number(progress.done)} ${progress.facts}, ${number(rate)} a second${left}`;
      if (!isTerminal) cli.stderr.write(`${verb} ${facts}\n`);
      else cli.stderr.write(`\r\x1b[K${verb} ${bar(progress.share)}${facts}`);
    },
    end() {
      if (isTerminal && isShown) cli.stderr.write("\r\x1b[K");
    },
  };
}

function bar(share: number | null): string {
  if (share === null) return "";
  const filled = Math.round(share * barWidth);
  return `[${"#".repeat(filled)}${"-".repeat(barWidth - filled)}] `;
}

function timeLeft(elapsed: number, gained: number, missing: number): string {
  if (elapsed < guessAfterMs || gained <= 0) return "";
  const seconds = Math.round((elapsed * missing) / gained / 1000);
  const [minutes, rest] = [Math.floor(seconds / 60), seconds % 60];
  return `, ${minutes}:${String(rest).padStart(2, "0")} left`;
}

const number = (value: number) => value.toLocaleString("en");
