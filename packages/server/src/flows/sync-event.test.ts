import { components, maxEventBytes, SyncEvent, serverEventTypes } from "@fieldgate/contract";
import { Ajv } from "ajv";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isRejection, readEvent } from "./sync-event.ts";

const ajv = new Ajv({ strict: false });
ajv.addSchema([...components]);
const isSyncEvent = ajv.getSchema(SyncEvent.$id);
if (!isSyncEvent) throw new Error("The contract has no SyncEvent.");

const good = {
  id: "0b8a8f5e-8f0c-4d0e-9c0b-0123456789ab",
  entityId: "1b8a8f5e-8f0c-4d0e-9c0b-0123456789ab",
  type: "update-individual",
  data: { names: { given: "Asha" } },
  deviceTime: "2026-01-31T09:30:00.000Z",
  sequence: 1,
  baseVersion: 0,
};

describe("an event of a batch", () => {
  test("is read where it is good", () => {
    expect(readEvent(good)).toEqual({ event: good, dataText: JSON.stringify(good.data) });
  });

  const odd = fc.oneof(
    fc.jsonValue(),
    fc.constantFrom<unknown>(
      "",
      "a-b",
      "A",
      good.id.toUpperCase(),
      "2026-13-01T00:00:00Z",
      "2026-01-31T09:30:00+03:00",
    ),
    fc.constantFrom<unknown>(0, 1, -1, 1.5, Number.MAX_SAFE_INTEGER + 1, "1", null, {}, [], "x".repeat(200), "c2hh"),
  );
  const change = fc.record({
    field: fc.constantFrom(...Object.keys(good), "hash", "author", "version"),
    value: odd,
    drop: fc.boolean(),
  });

  test("is accepted and refused exactly where the contract's schema does, and every refusal is a sentence", () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 2 }), (changes) => {
        const event: Record<string, unknown> = { ...good };
        for (const { field, value, drop } of changes) {
          if (drop) delete event[field];
          else event[field] = value;
        }
        const read = readEvent(event);
        // The schema knows no calendar.
        const isRealInstant = !Number.isNaN(Date.parse(String(event.deviceTime)));
        expect(isRejection(read)).toBe(!(isSyncEvent(event) && isRealInstant));
        if (isRejection(read)) expect(read.message).toMatch(/^\S.*\.$/);
      }),
      { numRuns: 2000 },
    );
  });

  test("must not be one that only the server writes, nor larger than the contract says", () => {
    for (const type of serverEventTypes) expect(readEvent({ ...good, type })).toMatchObject({ code: "invalid_event" });
    const room = maxEventBytes - '{"a":""}'.length;
    expect(readEvent({ ...good, data: { a: "x".repeat(room) } })).toHaveProperty("event");
    expect(readEvent({ ...good, data: { a: "x".repeat(room + 1) } })).toMatchObject({ code: "event_too_large" });
    expect(readEvent({ ...good, data: { a: "é".repeat(room / 2 + 1) } })).toMatchObject({ code: "event_too_large" });
  });
});
