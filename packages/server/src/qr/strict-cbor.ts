import { decode } from "cbor2";

/** CBOR that could be read in two ways is not read at all. Null where it is malformed. */
export function decodeStrictCbor(bytes: Uint8Array): { readonly value: unknown } | null {
  try {
    const value = decode(bytes, {
      rejectDuplicateKeys: true,
      rejectUndefined: true,
      preferMap: true,
      ignoreGlobalTags: true,
      collapseBigInts: true,
      maxDepth: 16,
    });
    return { value };
  } catch {
    // The bytes come from a stranger's card: whatever the decoder says of them, they are malformed.
    return null;
  }
}
