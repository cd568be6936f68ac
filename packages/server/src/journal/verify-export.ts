import { createReadStream } from "node:fs";
import { splitLines } from "../lines.ts";
import type { ExportEnd, ExportHeader } from "./export.ts";
import { collectFindings, type FindingCollector } from "./finding.ts";
import { isCheckpoint, measureFiles, readKeptCheckpoints, readKeptKeys } from "./kept-checkpoints.ts";
import { type GivenKey, type TrustedKey, trustExportedKey, trustGivenKeys } from "./key-trust.ts";
import type { EventRecord, JournalRecord } from "./record-stream.ts";
import { checkRecords, describeProof, reportUnasked, type Verification } from "./verify.ts";

/** The file is no export, or not one that can be verified. */
export class UnverifiableExport extends Error {
  override readonly name = "UnverifiableExport";
}

export interface VerifyExportOptions {
  readonly headFiles?: readonly string[];
  readonly publicKeys?: readonly GivenKey[];
}

/** Verifies an export by itself, without a database. It holds a line at a time. */
export async function verifyExport(path: string, options: VerifyExportOptions): Promise<Verification> {
  const findings = collectFindings();
  const headFiles = await measureFiles(options.headFiles ?? []);
  const given = [...(options.publicKeys ?? []), ...(await readKeptKeys(headFiles))];
  const { header, keys } = await readPreamble(path, given, (options.publicKeys ?? []).length > 0, findings);
  const kept = await readKeptCheckpoints(headFiles, keys, findings, Date.parse(header.exportedAt));
  // Events behind the last checkpoint are normal: the service goes on while it is exported.
  const counts = await checkRecords(readRecords(path, findings), keys, kept, () => {}, findings);
  reportUnasked(kept, header.tenantId ?? undefined, findings);
  return {
    ok: findings.errors === 0,
    ...counts,
    keptCheckpoints: kept.count,
    unsealed: 0,
    findings,
    ...describeProof({ keys, hasVault: false, hasHeads: headFiles.length > 0 }),
  };
}

/** The header and the keys, which stand before all else. */
async function readPreamble(
  path: string,
  given: readonly GivenKey[],
  onlyGiven: boolean,
  findings: FindingCollector,
): Promise<{ header: ExportHeader; keys: ReadonlyMap<string, TrustedKey> }> {
  let header: ExportHeader | null = null;
  const keys = new Map(trustGivenKeys(given));
  for await (const { value } of readLines(path)) {
    if (!header) {
      header = demandHeader(path, value);
      continue;
    }
    if (value?.record !== "key") break;
    const { keyId, publicJwk } = value as Extract<JournalRecord, { record: "key" }>;
    const key = trustExportedKey(String(keyId), publicJwk, given);
    if (key && !(onlyGiven && key.proof === "unproven")) keys.set(keyId, key);
    else findings.error("key", null, null, `The journal key ${keyId} of the export is not the one given.`);
  }
  return { header: header ?? demandHeader(path, null), keys };
}

function demandHeader(path: string, value: ParsedLine["value"]): ExportHeader {
  const { record, format, version, verifiable } = value ?? {};
  if (record !== "header" || format !== "fieldgate-journal" || version !== 1) {
    throw new UnverifiableExport(`${path} is not a journal export that this version of Fieldgate can read.`);
  }
  if (verifiable !== true) {
    throw new UnverifiableExport(
      `${path} was exported with filters, so its chain has holes. Export without --from, --to and --type to verify it.`,
    );
  }
  return value as unknown as ExportHeader;
}

async function* readRecords(path: string, findings: FindingCollector): AsyncGenerator<JournalRecord> {
  let end: ExportEnd | null = null;
  const counts = { events: 0, checkpoints: 0 };
  for await (const { number, value } of readLines(path)) {
    const kind = value?.record;
    if (number === 1 || kind === "key") continue;
    if (end) findings.error("file", null, null, `Line ${number} stands behind the end of the export.`);
    else if (kind === "end") end = value as unknown as ExportEnd;
    else if (isRecord(value)) {
      counts.events += Number(kind === "event");
      counts.checkpoints += Number(kind === "checkpoint");
      yield value;
    } else findings.error("malformed", null, null, `Line ${number} is not a record of the journal.`);
  }
  if (!end) findings.error("file", null, null, "The export has no end: it was cut, or is still being written.");
  else if (end.events !== counts.events || end.checkpoints !== counts.checkpoints) {
    findings.error("file", null, null, `The export says that it has ${end.events} events, and has ${counts.events}.`);
  }
}

interface ParsedLine {
  readonly number: number;
  readonly value: Readonly<Record<string, unknown>> | null;
}

async function* readLines(path: string): AsyncGenerator<ParsedLine> {
  let number = 0;
  for await (const text of splitLines(createReadStream(path))) {
    number += 1;
    yield { number, value: parseObject(text) };
  }
}

function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    // The caller tells which line it is.
    return null;
  }
}

function isRecord(value: object | null): value is JournalRecord {
  const { record, tenantId, seq, hash } = (value ?? {}) as Record<string, unknown>;
  if (typeof tenantId !== "string") return false;
  if (record === "tenant") return true;
  if (record === "checkpoint") return isCheckpoint(value);
  if (!Number.isSafeInteger(seq) || typeof hash !== "string") return false;
  return record === "head" || (record === "event" && isEvent(value as Partial<EventRecord>));
}

function isEvent({ id, at, type, subject, sessionId, data }: Partial<EventRecord>): boolean {
  return (
    [id, type, data].every((text) => typeof text === "string") &&
    [subject, sessionId].every((text) => text === null || typeof text === "string") &&
    Number.isSafeInteger(at)
  );
}
