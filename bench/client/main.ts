import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { measureGetToken } from "./get-token.ts";
import { measureSizes } from "./sizes.ts";

const resultFile = fileURLToPath(new URL("../results/client.json", import.meta.url));
const kilobytes = (bytes: number) => `${(bytes / 1000).toFixed(1)} KB`;

const sizes = await measureSizes();
const getToken = await measureGetToken();
writeFileSync(resultFile, `${JSON.stringify({ sizes, getToken }, null, 2)}\n`);

process.stdout.write("Minified and compressed (gzip -9), 1 KB = 1,000 bytes\n\n");
for (const { name, loaded, later, limit } of sizes) {
  const verdict = limit === null ? "" : `  at most ${kilobytes(limit)}: ${loaded <= limit ? "met" : "MISSED"}`;
  const rest = later > 0 ? `  (+ ${kilobytes(later)} when it comes to be used)` : "";
  process.stdout.write(`${name.padEnd(46)}${kilobytes(loaded).padStart(8)}${verdict}${rest}\n`);
}
if (getToken === null) {
  process.stdout.write("\ngetToken() was not measured: there is no Chromium. Install it: apt-get install chromium\n");
} else {
  const { p50, p99 } = getToken;
  const verdict = p99 < 1 ? "met" : "MISSED";
  process.stdout.write(
    `\ngetToken() with a fresh verdict, in Chromium: p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms`,
  );
  process.stdout.write(`  under 1 ms: ${verdict}\n`);
}
const isMissed = sizes.some(({ loaded, limit }) => limit !== null && loaded > limit) || (getToken?.p99 ?? 0) >= 1;
process.exitCode = isMissed ? 1 : 0;
