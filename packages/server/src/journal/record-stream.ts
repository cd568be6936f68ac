import type { JWK } from "jose";
import type { ChainedEvent } from "./canonical.ts";
import type { Checkpoint } from "./checkpoint.ts";

/**
 * The journal as a stream, the same whether it comes from the database or from an export: for each tenant a `tenant`
 * record, its events by `seq` with each checkpoint behind the event it names, and a `head`; keys before all of that.
 */
export type JournalRecord =
  | { readonly record: "key"; readonly keyId: string; readonly publicJwk: JWK }
  | { readonly record: "tenant"; readonly tenantId: string }
  | EventRecord
  | ({ readonly record: "checkpoint" } & Checkpoint)
  | HeadRecord
  | MalformedRecord;

export interface EventRecord extends ChainedEvent {
  readonly record: "event";
  readonly hash: string;
}

export interface HeadRecord {
  readonly record: "head";
  readonly tenantId: string;
  readonly seq: number;
  readonly hash: string;
}

/** A row that no Fieldgate could have written. */
export interface MalformedRecord {
  readonly record: "malformed";
  readonly tenantId: string;
  readonly seq: number | null;
  /** What is wrong, in words that follow "an event" or the like. */
  readonly what: string;
}
