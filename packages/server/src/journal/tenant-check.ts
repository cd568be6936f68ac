import { chainHash, genesisHead } from "./chain.ts";
import { type Checkpoint, checkCheckpoint } from "./checkpoint.ts";
import type { FindingCollector } from "./finding.ts";
import type { TrustedKeys } from "./key-trust.ts";
import type { EventRecord, HeadRecord, MalformedRecord } from "./record-stream.ts";

/** Sealed events that no checkpoint vouches for yet. */
export interface UnsignedTail {
  readonly from: number;
  readonly to: number;
  /** When the oldest of them happened, in milliseconds. */
  readonly since: number;
}

export interface TenantCheck {
  event(event: EventRecord): void;
  malformed(record: MalformedRecord): void;
  checkpoint(checkpoint: Checkpoint): void;
  head(head: HeadRecord): void;
  /** Call it last. */
  end(): UnsignedTail | null;
}

/** `seq` → hash of the checkpoints that were kept elsewhere. Each is taken out when the chain has come to it. */
export type KeptHashes = Map<number, string>;

const missing = (from: number, to: number) =>
  from === to ? `Event ${from} is missing` : `Events ${from} to ${to} are missing`;

/** Follows one tenant's chain, one record after the other, and remembers only where it stands. */
export function createTenantCheck(
  tenantId: string,
  keys: TrustedKeys,
  kept: KeptHashes,
  findings: FindingCollector,
): TenantCheck {
  const { error } = findings;
  /** The hash is null where it cannot be known: what follows is then taken as it is. */
  let last: { seq: number; hash: string | null } = genesisHead(tenantId);
  let head: HeadRecord | null = null;
  let signed = 0;
  let unsigned: UnsignedTail | null = null;

  /** Whether the chain goes on at this place; holes are told of, and a place that is taken is refused. */
  function advance(seq: number): boolean {
    if (seq <= last.seq) {
      error("inserted", tenantId, seq, `A second event claims place ${seq}, or a place before the first.`);
      return false;
    }
    if (seq === last.seq + 1) return true;
    error("removed", tenantId, last.seq + 1, `${missing(last.seq + 1, seq - 1)}.`);
    last = { seq: seq - 1, hash: null };
    return true;
  }

  function compareWithKept(seq: number, hash: string): void {
    const expected = kept.get(seq);
    if (expected === undefined) return;
    kept.delete(seq);
    if (expected === hash) return;
    error("cut", tenantId, seq, `Event ${seq} has another hash than the checkpoint that was kept of it.`);
  }

  function checkSignature(next: Checkpoint): void {
    const complain = (text: string) =>
      error("checkpoint", tenantId, next.seq, `The checkpoint at event ${next.seq} ${text}.`);
    const previous = signed;
    signed = next.seq;
    const key = keys.get(next.keyId);
    if (!key) {
      complain(`is signed with the key ${next.keyId}, which is unknown or not to be trusted`);
      return;
    }
    const result = checkCheckpoint(next, key.publicKey);
    if ("problem" in result) {
      complain(result.problem);
      return;
    }
    const named = result.facts.previous;
    if (named === previous) return;
    const told = `The checkpoint at event ${next.seq} was signed after one at ${named}, but the one before it is at ${previous}.`;
    error("checkpoint_removed", tenantId, Math.max(named, previous), told);
  }

  return {
    event(next) {
      if (!advance(next.seq)) return;
      if (last.hash !== null && chainHash(last.hash, next) !== next.hash) {
        const told = `Event ${next.seq} is not what was sealed: it, its place, or a hash was changed.`;
        error("changed", tenantId, next.seq, told);
      }
      last = { seq: next.seq, hash: next.hash };
      const since = Math.min(unsigned?.since ?? next.at, next.at);
      unsigned = { from: unsigned?.from ?? next.seq, to: next.seq, since };
      compareWithKept(next.seq, next.hash);
    },

    malformed({ seq, what }) {
      error("malformed", tenantId, seq, `${seq === null ? "An event" : `Event ${seq}`} ${what}.`);
      if (seq !== null && advance(seq)) last = { seq, hash: null };
    },

    checkpoint(next) {
      checkSignature(next);
      unsigned = null;
      if (next.seq === last.seq && next.hash === last.hash) return;
      const told = next.seq === last.seq ? "has another hash than the event" : "names an event that is not there";
      error("checkpoint", tenantId, next.seq, `The checkpoint at event ${next.seq} ${told}.`);
    },

    head(record) {
      if (head) error("inserted", tenantId, record.seq, "There is a second head.");
      head = record;
    },

    end() {
      if (!head) {
        if (last.seq > 0) error("head", tenantId, last.seq, `The head is missing; the last event is ${last.seq}.`);
      } else if (head.seq > last.seq) {
        error("removed", tenantId, last.seq + 1, `${missing(last.seq + 1, head.seq)} at the end.`);
      } else if (head.seq < last.seq || head.hash !== last.hash) {
        error("head", tenantId, head.seq, `The head says event ${head.seq} and is not that of event ${last.seq}.`);
      }
      const unmet = [...kept.keys()].sort((a, b) => a - b).at(-1);
      if (unmet !== undefined) {
        const what = unmet > last.seq ? `the journal ends at ${last.seq}: its tail was cut` : "there is no such event";
        error("cut", tenantId, unmet, `A checkpoint that was kept names event ${unmet}, but ${what}.`);
      }
      kept.clear();
      return unsigned;
    },
  };
}
