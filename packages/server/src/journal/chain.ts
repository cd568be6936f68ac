import { createHash } from "node:crypto";
import { type ChainedEvent, canonicalEvent, encodeFields } from "./canonical.ts";

/** How far a tenant's chain has come: the last event's place and hash. */
export interface ChainHead {
  readonly seq: number;
  readonly hash: string;
}

/** What the first event of a tenant is chained to. It names the tenant, so no chain can pass for another's. */
export function genesisHead(tenantId: string): ChainHead {
  const bytes = encodeFields(["fieldgate.journal.genesis.v1", tenantId]);
  return { seq: 0, hash: createHash("sha256").update(bytes).digest("hex") };
}

/** The hash of an event in its place: SHA-256 over the hash before it (64 hexadecimal characters) and its own bytes. */
export function chainHash(previous: string, event: ChainedEvent): string {
  return createHash("sha256")
    .update(encodeFields([previous]))
    .update(canonicalEvent(event))
    .digest("hex");
}
