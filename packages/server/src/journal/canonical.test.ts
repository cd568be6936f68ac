import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type ChainedEvent, canonicalEvent, encodeFields } from "./canonical.ts";
import { chainHash, genesisHead } from "./chain.ts";

const event: ChainedEvent = {
  id: "e1",
  tenantId: "demo",
  at: 1_700_000_000_000,
  type: "login.succeeded",
  subject: "w1",
  sessionId: null,
  data: '{"provider":"password"}',
  seq: 1,
};

describe("the canonical bytes", () => {
  it("are a published format that never changes", () => {
    expect(canonicalEvent(event).toString("latin1")).toBe(
      [
        "\0\0\0\x1afieldgate.journal.event.v1",
        "\0\0\0\x02e1",
        "\0\0\0\x04demo",
        "\0\0\0\x0d1700000000000",
        "\0\0\0\x0flogin.succeeded",
        "\0\0\0\x02w1",
        "\xff\xff\xff\xff",
        '\0\0\0\x17{"provider":"password"}',
        "\0\0\0\x011",
      ].join(""),
    );
    // Computed by another program from the words of docs/journal.md.
    expect(genesisHead("demo").hash).toBe("2a0facb049e55254e007c09f9dcfbf2e2f1210a0913742c2694f21e0db1fb1ca");
    expect(chainHash(genesisHead("demo").hash, event)).toBe(
      "cf728a1e19e8bc5616a70d229c9d65b9b0cf6c51b3b6435b47c0905c625e79d5",
    );
  });

  it("differ for different lists of fields", () => {
    const field = fc.oneof(fc.constant(null), fc.string({ unit: "grapheme", maxLength: 5 }));
    const list = fc.array(field, { maxLength: 4 });
    fc.assert(
      fc.property(list, list, (a, b) => {
        expect(encodeFields(a).equals(encodeFields(b))).toBe(JSON.stringify(a) === JSON.stringify(b));
      }),
    );
  });

  it("count bytes, not characters", () => {
    expect(encodeFields(["é"])).toEqual(Buffer.from([0, 0, 0, 2, 0xc3, 0xa9]));
  });
});

describe("the chain", () => {
  it("begins differently for each tenant", () => {
    expect(genesisHead("a").hash).not.toBe(genesisHead("b").hash);
  });

  it("covers every field", () => {
    const hashes = new Set([
      chainHash("0", event),
      chainHash("1", event),
      ...Object.keys(event).map((name) =>
        chainHash("0", { ...event, [name]: name === "at" || name === "seq" ? 7 : "x" }),
      ),
    ]);
    expect(hashes.size).toBe(2 + Object.keys(event).length);
  });
});
