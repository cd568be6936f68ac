/** An event as the chain covers it: every column of its row but the hash. */
export interface ChainedEvent {
  readonly id: string;
  readonly tenantId: string;
  /** Milliseconds by the database's clock. */
  readonly at: number;
  readonly type: string;
  readonly subject: string | null;
  readonly sessionId: string | null;
  /** The JSON text exactly as it is stored. */
  readonly data: string;
  readonly seq: number;
}

const nullLength = 0xffff_ffff;

/**
 * Fields one after the other, each as four bytes of length (big-endian, in UTF-8 bytes) and the bytes themselves; null
 * is the length ffffffff alone. No two different lists have the same bytes.
 */
export function encodeFields(fields: readonly (string | null)[]): Buffer {
  const lengths = fields.map((field) => (field === null ? 0 : Buffer.byteLength(field)));
  const bytes = Buffer.allocUnsafe(lengths.reduce((sum, length) => sum + length, 4 * fields.length));
  let offset = 0;
  for (const [index, field] of fields.entries()) {
    offset = bytes.writeUInt32BE(field === null ? nullLength : (lengths[index] ?? 0), offset);
    if (field !== null) offset += bytes.write(field, offset);
  }
  return bytes;
}

/** The bytes of an event that its hash covers. They are a published format: see docs/journal.md. */
export function canonicalEvent(event: ChainedEvent): Buffer {
  return encodeFields([
    "fieldgate.journal.event.v1",
    event.id,
    event.tenantId,
    String(event.at),
    event.type,
    event.subject,
    event.sessionId,
    event.data,
    String(event.seq),
  ]);
}
