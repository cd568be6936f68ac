import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readClaims } from "./encoding.ts";
import { isDue } from "./renewal/renewal.ts";
import { graceEnd, isOver, toSession } from "./session.ts";
import type { StoredSession } from "./storage/storage.ts";

const clock = { now: () => 1_000_000, skew: -5000 };
const frame = { version: 1, provider: "otp", server: "https://a.example", signedInAt: 1, keyId: undefined };
const jwt = (claims: object) => `h.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.s`;

describe("a session from an answer", () => {
  test("counts its durations from the server's time", () => {
    const answer = { username: "u", token: "t", expiresIn: 600, refreshToken: "r", refreshExpiresIn: 3600 };
    expect(toSession(answer, frame, clock)).toMatchObject({
      renewedAt: 1_000_000,
      expiresAt: 1_600_000,
      refreshExpiresAt: 4_600_000,
      skew: -5000,
    });
  });

  test("takes its end from the token where the answer has none, or has none at all", () => {
    expect(toSession({ username: "u", token: jwt({ exp: 77 }) }, frame, clock).expiresAt).toBe(77_000);
    expect(toSession({ username: "u", token: "opaque" }, frame, clock).expiresAt).toBeUndefined();
  });

  test("is refused without a name or a token", () => {
    expect(() => toSession({ username: "", token: "t" }, frame, clock)).toThrow(/no token/);
    expect(() => toSession({} as never, frame, clock)).toThrow(/no token/);
  });
});

describe("the times of a session", () => {
  const session = (times: Partial<StoredSession>) => ({ ...frame, username: "u", token: "t", ...times });

  test("it is due a minute before its end, or in the last quarter of a short life", () => {
    const long = session({ refreshToken: "r", renewedAt: 0, expiresAt: 600_000 });
    expect([isDue(long, 539_999), isDue(long, 540_000)]).toEqual([false, true]);
    const short = session({ refreshToken: "r", renewedAt: 0, expiresAt: 4000 });
    expect([isDue(short, 2999), isDue(short, 3000)]).toEqual([false, true]);
    expect(isDue(session({}), Number.MAX_SAFE_INTEGER)).toBe(false);
  });

  test("it is due before it is over, whatever its times", () => {
    const time = fc.integer({ min: 0, max: 1e12 });
    fc.assert(
      fc.property(time, fc.integer({ min: 1, max: 1e9 }), time, (renewedAt, life, now) => {
        const any = session({ refreshToken: "r", renewedAt, expiresAt: renewedAt + life });
        expect(!isOver(any, now) || isDue(any, now)).toBe(true);
      }),
    );
  });

  test("grace is for sessions that can be renewed, and never longer than these", () => {
    const renewable = session({ refreshToken: "r", renewedAt: 1000, refreshExpiresAt: 9000, expiresAt: 2000 });
    expect(graceEnd(renewable, 5000)).toBe(6000);
    expect(graceEnd(renewable, 50_000)).toBe(9000);
    expect(graceEnd(session({ renewedAt: 1000, expiresAt: 2000 }), 5000)).toBe(2000);
    expect(graceEnd(session({}), 5000)).toBe(Number.POSITIVE_INFINITY);
  });
});

describe("claims", () => {
  test("are read as UTF-8, and of anything that is no JWT there are none", () => {
    expect(readClaims(jwt({ name: "Ñandú 名" }))).toEqual({ name: "Ñandú 名" });
    for (const text of ["", "a", "a.b", "a.b.c", "..", "a.bnVsbA.c", "a.MQ.c"]) expect(readClaims(text)).toBeNull();
  });

  test("never make it throw", () => {
    fc.assert(fc.property(fc.string(), (text) => void readClaims(text)));
  });
});
