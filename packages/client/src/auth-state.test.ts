import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type AuthEvent, type AuthState, isLiving, type Person, type SettledState, transition } from "./auth-state.ts";

const amina: Person = { provider: "password", username: "amina" };
const bilal: Person = { provider: "otp", username: "self-service:e1" };

const settled: SettledState[] = [
  { status: "signedOut", reason: "never" },
  { status: "signedOut", reason: "logout" },
  { status: "signedOut", reason: "evicted" },
  { status: "signedIn", ...amina },
  { status: "refreshing", ...amina },
  { status: "offlineGrace", ...amina, until: 5 },
  { status: "expired", ...amina, reason: "session_revoked" },
];
const states: AuthState[] = [
  { status: "uninitialized" },
  ...settled,
  ...settled.map((before) => ({ status: "signingIn" as const, provider: "otp", before })),
];
const endReasons = ["invalid_grant", "session_revoked", "invalid_token", "grace_over", "rejected", "key_lost"] as const;
const events: AuthEvent[] = [
  { type: "restored", person: amina, reason: "never" },
  { type: "restored", person: null, reason: "evicted" },
  { type: "signInStarted", provider: "otp" },
  { type: "signInFailed" },
  { type: "signedIn", person: bilal },
  { type: "refreshStarted" },
  { type: "verified", person: amina },
  { type: "unreachable", until: 9 },
  ...endReasons.map((reason) => ({ type: "ended" as const, reason })),
  { type: "loggedOut", reason: "logout" },
  { type: "loggedOut", reason: "evicted" },
];
const statuses = ["uninitialized", "signedOut", "signingIn", "signedIn", "refreshing", "offlineGrace", "expired"];
const endsSomething = (event: AuthEvent) => event.type === "ended" || event.type === "loggedOut";
const anyEvents = fc.array(fc.constantFrom(...events), { maxLength: 40 });

describe("every event in every state", () => {
  for (const state of states) {
    for (const event of events) {
      const before = "before" in state ? `${state.status}(${state.before.status})` : state.status;
      test(`${before} + ${event.type}`, () => {
        const after = transition(state, event);
        expect(statuses).toContain(after.status);
        if (isLiving(state) && !endsSomething(event)) expect(isLiving(after)).toBe(true);
        if (!isLiving(state) && state.status !== "uninitialized" && isLiving(after)) {
          // Only a sign-in revives, or the server's word on a session this device had given up.
          const expired = state.status === "expired" || ("before" in state && state.before.status === "expired");
          expect(event.type === "signedIn" || (event.type === "verified" && expired)).toBe(true);
        }
        expect(transition(after, event)).toEqual(after);
      });
    }
  }
});

describe("any sequence of events", () => {
  test("never signs a living session out without an explicit end", () => {
    fc.assert(
      fc.property(anyEvents, (sequence) => {
        let state: AuthState = { status: "signedIn", ...amina };
        for (const event of sequence.filter((event) => !endsSomething(event))) state = transition(state, event);
        expect(isLiving(state)).toBe(true);
      }),
    );
  });

  test("never leaves a logout by anything but a sign-in", () => {
    fc.assert(
      fc.property(anyEvents, (sequence) => {
        let state: AuthState = transition({ status: "signedIn", ...amina }, { type: "loggedOut", reason: "logout" });
        for (const event of sequence.filter((event) => event.type !== "signedIn")) state = transition(state, event);
        expect(isLiving(state)).toBe(false);
      }),
    );
  });

  test("gives the same object back when nothing changed", () => {
    fc.assert(
      fc.property(anyEvents, (sequence) => {
        let state: AuthState = { status: "uninitialized" };
        for (const event of sequence) {
          const after = transition(state, event);
          if (JSON.stringify(after) === JSON.stringify(state)) expect(after).toBe(state);
          state = after;
        }
      }),
    );
  });
});

describe("the way of a session", () => {
  const run = (...sequence: AuthEvent[]) =>
    sequence.reduce<AuthState>((state, event) => transition(state, event), { status: "uninitialized" });

  test("a failed sign-in falls back to who was signed in before", () => {
    const state = run(
      { type: "restored", person: amina, reason: "never" },
      { type: "signInStarted", provider: "otp" },
      { type: "unreachable", until: 7 },
      { type: "signInFailed" },
    );
    expect(state).toEqual({ status: "offlineGrace", ...amina, until: 7 });
  });

  test("a logout during a sign-in ends both", () => {
    const state = run(
      { type: "restored", person: amina, reason: "never" },
      { type: "signInStarted", provider: "otp" },
      { type: "loggedOut", reason: "logout" },
      { type: "signInFailed" },
    );
    expect(state).toEqual({ status: "signedOut", reason: "logout" });
  });

  test("a grace that ran out on a wrong clock comes back with the server's word", () => {
    const state = run(
      { type: "restored", person: amina, reason: "never" },
      { type: "unreachable", until: 7 },
      { type: "ended", reason: "grace_over" },
      { type: "unreachable", until: 7 },
      { type: "verified", person: amina },
    );
    expect(state).toEqual({ status: "signedIn", ...amina });
  });
});
