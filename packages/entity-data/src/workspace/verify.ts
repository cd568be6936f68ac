import type { StoredEvent } from "../events/event-store.ts";
import { chainHash, chainStart } from "../hash-chain.ts";
import type { Workspace } from "./workspace.ts";

/** What is wrong with a log, and where. */
export interface ChainFinding {
  readonly sequence: number;
  readonly problem: "missing" | "changed";
}

export interface ChainReport {
  readonly intact: boolean;
  /** How many events were looked at. */
  readonly checked: number;
  readonly findings: readonly ChainFinding[];
}

/**
 * Walks an owner's log from its beginning: each event must follow the one before, fit its hash, and the last must be the one the
 * head names. Events of people who were forgotten are empty; the link over them is the next one's word.
 */
export async function verifyChain(
  workspace: Workspace,
  read: (after: number, limit: number) => Promise<StoredEvent[]>,
  startsAt = 1,
): Promise<ChainReport> {
  const findings: ChainFinding[] = [];
  const end = await workspace.log.end();
  let checked = 0;
  let expected = startsAt;
  let link: string | null = startsAt === 1 ? chainStart : null;
  for (;;) {
    const page = await read(expected - 1, 500);
    for (const stored of page) {
      const sequence = stored.sequence as number;
      for (; expected < sequence; expected++) {
        findings.push({ sequence: expected, problem: "missing" });
        link = null;
      }
      expected = sequence + 1;
      checked++;
      link = stored.sealed.length === 0 ? null : await checkLink(workspace, stored, link, findings);
    }
    if (page.length === 0) break;
  }
  for (; expected <= end.sequence; expected++) findings.push({ sequence: expected, problem: "missing" });
  if (findings.length === 0 && link !== null && checked > 0 && link !== end.hash) {
    findings.push({ sequence: end.sequence, problem: "changed" });
  }
  return { intact: findings.length === 0, checked, findings };
}

/** The hash that the next event must be linked to; null where it cannot be told. */
async function checkLink(
  { log }: Workspace,
  stored: StoredEvent,
  link: string | null,
  findings: ChainFinding[],
): Promise<string | null> {
  const sequence = stored.sequence as number;
  try {
    const [opened] = await log.get([stored.id]);
    if (!opened) return null;
    const { event, previous } = opened;
    const fits = (link === null || previous === link) && event.hash === (await chainHash(previous, event));
    if (!fits || event.sequence !== sequence) findings.push({ sequence, problem: "changed" });
    return event.hash ?? null;
  } catch {
    // It does not open: a byte of it, or its place, is another one.
    findings.push({ sequence, problem: "changed" });
    return null;
  }
}
