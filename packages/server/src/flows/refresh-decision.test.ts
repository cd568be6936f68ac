import { describe, expect, test } from "vitest";
import { decideRefresh, type FamilyState } from "./refresh-decision.ts";

const now = 1_000_000;
const replayMs = 30_000;
const family: FamilyState = { counter: 5, bound: true, revoked: false, expiresAt: now + 1, rotatedAt: now };
const decide = (state: Partial<FamilyState>, presented: number) =>
  decideRefresh({ ...family, ...state }, presented, now, replayMs);

describe("a bound family", () => {
  test("rotates its head", () => expect(decide({}, 5)).toBe("rotate"));
  test("repeats the successor of the parent, however late", () =>
    expect(decide({ rotatedAt: now - 30 * 86_400_000 }, 4)).toBe("repeat"));
  test("calls anything older superseded, and stays alive", () => expect(decide({}, 3)).toBe("superseded"));
  test("accepts a genuine token that the database has forgotten", () => expect(decide({}, 9)).toBe("rotate"));
});

describe("a plain family", () => {
  const plain = { bound: false };
  test("rotates its head", () => expect(decide(plain, 5)).toBe("rotate"));
  test("repeats the successor within the replay time, to its last millisecond", () =>
    expect(decide({ ...plain, rotatedAt: now - replayMs }, 4)).toBe("repeat"));
  test("ends when the parent comes later", () =>
    expect(decide({ ...plain, rotatedAt: now - replayMs - 1 }, 4)).toBe("reuse"));
  test("ends when anything older comes", () => expect(decide(plain, 3)).toBe("reuse"));
  test("ends when a token comes that the database has forgotten", () => expect(decide(plain, 6)).toBe("reuse"));
});

describe("whatever is presented", () => {
  test("a revoked family stays revoked", () => expect(decide({ revoked: true }, 5)).toBe("revoked"));
  test("an expired family stays expired", () => expect(decide({ expiresAt: now }, 5)).toBe("expired"));
  test("revoked wins over expired", () => expect(decide({ revoked: true, expiresAt: now - 1 }, 4)).toBe("revoked"));
});
