import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { splitLines } from "../lines.ts";
import type { Checkpoint } from "./checkpoint.ts";
import { checkCheckpoint } from "./checkpoint.ts";
import type { FindingCollector } from "./finding.ts";
import { type GivenKey, pointOf, type TrustedKeys } from "./key-trust.ts";
import type { KeptHashes } from "./tenant-check.ts";

/** Checkpoints that were kept outside the database, proven and ready to be compared, by tenant. */
export interface KeptCheckpoints {
  readonly count: number;
  of(tenantId: string): KeptHashes;
  /** The tenants whose checkpoints nobody has asked for yet. */
  unasked(): readonly string[];
}

type Line = { readonly checkpoint: Checkpoint } | { readonly key: GivenKey };

/** A file as long as it was when it was measured: a running service may append to it. */
export interface KeptFile {
  readonly path: string;
  readonly size: number;
}

/**
 * Measures the files. Do this before the snapshot's first query: checkpoints are in the database before they are in
 * a file, so the snapshot then knows all that is in these.
 */
export async function measureFiles(paths: readonly string[]): Promise<KeptFile[]> {
  return Promise.all(paths.map(async (path) => ({ path, size: (await stat(path)).size })));
}

/** The public keys that lie beside the checkpoints. */
export async function readKeptKeys(files: readonly KeptFile[]): Promise<GivenKey[]> {
  const keys = new Map<string, GivenKey>();
  for (const file of files) {
    for await (const { line } of readLines(file)) {
      if (line && "key" in line) keys.set(`${line.key.keyId} ${line.key.x}`, line.key);
    }
  }
  return [...keys.values()];
}

/**
 * Reads the checkpoints of the files and proves each; one that does not hold is a finding. Those made after `until`
 * (milliseconds) cannot be expected in what they are compared with.
 */
export async function readKeptCheckpoints(
  files: readonly KeptFile[],
  keys: TrustedKeys,
  findings: FindingCollector,
  until = Number.POSITIVE_INFINITY,
): Promise<KeptCheckpoints> {
  const byTenant = new Map<string, KeptHashes>();
  let count = 0;
  let tooNew = 0;
  for (const file of files) {
    const { path } = file;
    const before = count;
    let unreadable = 0;
    for await (const { number, line } of readLines(file)) {
      if (!line) unreadable += 1;
      if (!line || "key" in line) continue;
      const { checkpoint } = line;
      count += 1;
      const key = keys.get(checkpoint.keyId);
      const result = key ? checkCheckpoint(checkpoint, key.publicKey) : { problem: "is signed with an unknown key" };
      if ("problem" in result) {
        const told = `Line ${number} of ${path}: the checkpoint ${result.problem}.`;
        findings.error("file", checkpoint.tenantId, checkpoint.seq, told);
      } else if (checkpoint.at > until) tooNew += 1;
      else keep(byTenant, checkpoint, findings);
    }
    if (count === before) findings.error("file", null, null, `There is no checkpoint in ${path}.`);
    else if (unreadable > 0) {
      findings.warn("file", null, null, `${unreadable} lines of ${path} hold neither a checkpoint nor a key.`);
    }
  }
  if (tooNew > 0) {
    const told = `${tooNew} checkpoints that were kept are newer than the export, and could not be compared with it.`;
    findings.warn("file", null, null, told);
  }
  return {
    count,
    of(tenantId) {
      const hashes = byTenant.get(tenantId) ?? new Map();
      byTenant.delete(tenantId);
      return hashes;
    },
    unasked: () => [...byTenant.keys()],
  };
}

function keep(byTenant: Map<string, KeptHashes>, { tenantId, seq, hash }: Checkpoint, findings: FindingCollector) {
  const hashes: KeptHashes = byTenant.get(tenantId) ?? new Map();
  byTenant.set(tenantId, hashes);
  const known = hashes.get(seq);
  if (known !== undefined && known !== hash) {
    const told = `Two checkpoints that were kept disagree about event ${seq}: the journal was rewritten in between.`;
    findings.error("cut", tenantId, seq, told);
  }
  hashes.set(seq, hash);
}

/** One value a line, as in `checkpoints.ndjson` or a log; or the whole file one value, as copied out by a person. */
async function* readLines({ path, size }: KeptFile): AsyncGenerator<{ number: number; line: Line | null }> {
  if (size === 0) return;
  const content = () => createReadStream(path, { end: size - 1 });
  const whole = size < 100_000 ? parse(await text(content())) : null;
  if (whole) {
    yield { number: 1, line: whole };
    return;
  }
  let number = 0;
  for await (const each of splitLines(content())) {
    number += 1;
    if (each.trim() !== "") yield { number, line: parse(each) };
  }
}

function parse(json: string): Line | null {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    // A crash may have cut a line, and a log may hold other things; the caller counts them.
    return null;
  }
  if (typeof value !== "object" || value === null) return null;
  const { record, keyId, publicJwk, checkpoint } = value as Record<string, unknown>;
  const x = pointOf(publicJwk);
  if (record === "key") return typeof keyId === "string" && x !== null ? { key: { keyId, x } } : null;
  // The service's log has the checkpoint inside its line.
  const candidate = (checkpoint ?? value) as Checkpoint;
  return isCheckpoint(candidate) ? { checkpoint: candidate } : null;
}

export function isCheckpoint(value: unknown): value is Checkpoint {
  const { tenantId, seq, hash, at, keyId, signature } = (value ?? {}) as Record<string, unknown>;
  return (
    [tenantId, hash, keyId, signature].every((each) => typeof each === "string") &&
    [seq, at].every((number) => Number.isSafeInteger(number))
  );
}
