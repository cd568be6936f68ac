import { createWriteStream, readFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { countBeneficiaries } from "../../../packages/server/src/store/beneficiary-lists.ts";
import { startProgram } from "../../service/children.ts";
import type { Finding, Measure } from "../../service/measures/measure.ts";
import { newSecret, tenantId } from "../../service/service-config.ts";
import { spreadOf } from "../../service/statistics.ts";
import { dateOfBirthOf, factsOf, idNumberOf, phoneOf } from "../people.ts";
import { prepareDatabase } from "../prepared-database.ts";

const program = fileURLToPath(new URL("../../../packages/server/bin/fieldgate.js", import.meta.url));
/** A million within ten minutes. */
const leastPerSecond = 1667;

/** `fieldgate beneficiary import` of a CSV file into an empty SQLite database: how fast, and in how much memory. */
export function measureImport(rows: number): Measure {
  return ({ folder, progress }) => importRows(rows, folder, progress);
}

async function importRows(rows: number, folder: string, progress: (line: string) => void): Promise<Finding[]> {
  progress("import: writing the file");
  const csv = join(folder, "people.csv");
  await pipeline(Readable.from(lines(rows)), createWriteStream(csv));
  const file = join(folder, "import.db");
  const secret = newSecret();
  const prepared = await prepareDatabase({ kind: "sqlite", file }, secret);

  const start = performance.now();
  const command = startProgram([program, "beneficiary", "import", csv, "--tenant", tenantId, "--json"], {
    cwd: folder,
    env: {
      FIELDGATE_SECRET: Buffer.from(secret).toString("hex"),
      FIELDGATE_BASE_URL: "https://id.example.org",
      FIELDGATE_DATABASE_URL: `sqlite:${file}`,
      FIELDGATE_DATA_DIR: join(folder, "import"),
    },
  });
  const megabytes: number[] = [];
  let code: number | null | undefined;
  void command.exitCode.then((ended) => {
    code = ended;
  });
  while (code === undefined) {
    const resident = residentMegabytes(command.pid);
    if (resident !== null) megabytes.push(resident);
    progress(`import: ${Math.round((performance.now() - start) / 1000)} s, ${resident?.toFixed(0) ?? "?"} MB`);
    await Promise.race([command.exitCode, sleep(500)]);
  }
  const seconds = (performance.now() - start) / 1000;
  const { active } = await countBeneficiaries(prepared.store, tenantId);
  await prepared.close();
  if (code !== 0 || active !== rows) throw new Error(`The import ended with ${code} and ${active} people.`);

  const early = middleOf(megabytes, 0.2, 0.4);
  const late = middleOf(megabytes, 0.8, 1);
  const detail = { rows, seconds, megabytes };
  return [
    {
      name: `import of ${rows.toLocaleString("en")} rows`,
      ours: `${seconds.toFixed(1)} s`,
      theirs: "",
      spread: spreadOf([rows / seconds]),
      unit: "rows/s",
      target: { atLeast: leastPerSecond },
      detail,
    },
    {
      name: "its memory at the end",
      ours: `${late.toFixed(0)} MB`,
      theirs: `${early.toFixed(0)} MB (after a third)`,
      spread: spreadOf([late / early]),
      unit: "ratio",
      target: { atMost: 1.25 },
      detail,
    },
  ];
}

function* lines(rows: number): Generator<string> {
  yield "external_id,given_name,family_name,date_of_birth,language,phones,national_ids\n";
  for (let person = 0; person < rows; person += 1) {
    const { externalId, names } = factsOf(person);
    const phoneAndId = `${phoneOf(person)},nid:${idNumberOf(person)}`;
    yield `${externalId},${names.given},${names.family},${dateOfBirthOf(person)},sw,${phoneAndId}\n`;
  }
}

/** Null where the process has just ended. */
function residentMegabytes(pid: number): number | null {
  try {
    const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
    return kibibytes === undefined ? null : (Number(kibibytes) * 1024) / 1e6;
  } catch {
    return null;
  }
}

/** The median of a part of the samples: memory goes up and down with every collection. */
function middleOf(samples: readonly number[], from: number, to: number): number {
  return spreadOf(samples.slice(Math.floor(samples.length * from), Math.ceil(samples.length * to))).median;
}
