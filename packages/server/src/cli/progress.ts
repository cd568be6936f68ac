import type { OnProgress } from "../backup/format.ts";
import type { CliContext } from "./context.ts";

export interface Progress {
  readonly onProgress: OnProgress;
  /** Clears the bar away. */
  end(): void;
}

const barWidth = 24;

/** Shows how far a long command has come: a bar on a terminal, a line now and then elsewhere, nothing when quiet. */
export function showProgress(cli: CliContext, verb: string, quiet: boolean): Progress {
  const isTerminal = "isTTY" in cli.stderr && cli.stderr.isTTY === true;
  const everyMs = isTerminal ? 100 : 5000;
  const start = cli.clock.monotonic();
  let shownAt = isTerminal ? Number.NEGATIVE_INFINITY : start;
  let isShown = false;
  return {
    onProgress({ done, total, table }) {
      const now = cli.clock.monotonic();
      if (quiet || now - shownAt < everyMs) return;
      shownAt = now;
      isShown = true;
      const rate = Math.round(done / Math.max(0.001, (now - start) / 1000));
      const share = total === 0 ? 1 : Math.min(1, done / total);
      const facts = `${number(done)} of ${number(total)} rows, ${number(rate)} a second (${table})`;
      if (!isTerminal) cli.stderr.write(`${verb} ${facts}\n`);
      else {
        const filled = Math.round(share * barWidth);
        cli.stderr.write(`\r\x1b[K${verb} [${"#".repeat(filled)}${"-".repeat(barWidth - filled)}] ${facts}`);
      }
    },
    end() {
      if (isTerminal && isShown) cli.stderr.write("\r\x1b[K");
    },
  };
}

const number = (value: number) => value.toLocaleString("en");
