export type FindingKind =
  /** An event is not what was sealed: a column, its place or its hash was changed. */
  | "changed"
  /** Events are missing from the chain. */
  | "removed"
  /** Two events claim one place, or one stands where none can be. */
  | "inserted"
  /** A value that Fieldgate never writes. */
  | "malformed"
  /** The head is missing or is not that of the last event. */
  | "head"
  /** A checkpoint's signature does not hold, or it contradicts the chain. */
  | "checkpoint"
  /** A checkpoint that must have been there is not. */
  | "checkpoint_removed"
  /** The chain does not reach a checkpoint that was kept elsewhere, or says something else there. */
  | "cut"
  /** A journal key is missing, was changed, or is not the deployment's. */
  | "key"
  /** A file that was given cannot be relied on. */
  | "file"
  /** Events that wait for the sealer for too long. */
  | "unsealed"
  /** Sealed events that no checkpoint covers yet. */
  | "unsigned";

export interface Finding {
  readonly kind: FindingKind;
  /** A warning is worth a look and is no proof of tampering. */
  readonly severity: "error" | "warning";
  readonly tenantId: string | null;
  readonly seq: number | null;
  readonly message: string;
}

/** What was found, the first of it word by word: a journal of millions may have millions of findings. */
export interface FindingList {
  readonly shown: readonly Finding[];
  readonly errors: number;
  readonly warnings: number;
}

export interface FindingCollector extends FindingList {
  error(kind: FindingKind, tenantId: string | null, seq: number | null, message: string): void;
  warn(kind: FindingKind, tenantId: string | null, seq: number | null, message: string): void;
}

export function collectFindings(limit = 1000): FindingCollector {
  const shown: Finding[] = [];
  const counts = { error: 0, warning: 0 };
  const add = (finding: Finding) => {
    counts[finding.severity] += 1;
    if (shown.length < limit) shown.push(finding);
  };
  return {
    shown,
    get errors() {
      return counts.error;
    },
    get warnings() {
      return counts.warning;
    },
    error: (kind, tenantId, seq, message) => add({ kind, severity: "error", tenantId, seq, message }),
    warn: (kind, tenantId, seq, message) => add({ kind, severity: "warning", tenantId, seq, message }),
  };
}
