import fc from "fast-check";

/** Where a message gets lost. */
export type Loss = "nothing" | "request" | "answer";

export type Command =
  /** A tab reads the storage and is about to refresh. */
  | { readonly do: "read"; readonly tab: number }
  /** What tabs have read is sent at the same moment, each request in `copies`, of which the client hears one answer. */
  | {
      readonly do: "send";
      readonly tabs: readonly number[];
      readonly node: number;
      readonly copies: number;
      readonly heard: number;
      readonly loss: Loss;
      readonly logout: boolean;
    }
  /** A tab deals with its answer. */
  | { readonly do: "settle"; readonly tab: number }
  /** All three at once, as on a good day. */
  | { readonly do: "refresh"; readonly tab: number; readonly node: number }
  /** A tab is closed in the middle of things. */
  | { readonly do: "close"; readonly tab: number }
  | {
      readonly do: "logout";
      readonly tab: number;
      readonly node: number;
      readonly by: "bearer" | "token" | "hash";
      readonly loss: Loss;
    }
  /** Someone has a copy of a token, and of every request that was sent, but not the key. */
  | {
      readonly do: "attack";
      readonly tab: number;
      readonly node: number;
      readonly token: number;
      readonly proof: "none" | "own key" | "own key as theirs" | "captured";
    }
  | { readonly do: "wait"; readonly seconds: number }
  | { readonly do: "restart"; readonly node: number };

/** Tabs of the first device, then of the second. */
export const tabCounts = [3, 2] as const;
const tab = fc.nat({ max: 4 });
const node = fc.nat({ max: 1 });
const loss = fc.constantFrom<Loss>("nothing", "nothing", "nothing", "request", "answer", "answer");
const rarely = fc.nat({ max: 15 }).map((roll) => roll === 15);

export const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant("read" as const), tab }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant("send" as const),
      tabs: fc.uniqueArray(tab, { minLength: 1, maxLength: 5 }),
      node,
      copies: fc.constantFrom(1, 1, 1, 2, 3),
      heard: fc.nat({ max: 2 }),
      loss,
      logout: rarely,
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("settle" as const), tab }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant("refresh" as const), tab, node }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("close" as const), tab }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("logout" as const),
      tab,
      node,
      by: fc.constantFrom("bearer" as const, "token" as const, "hash" as const),
      loss,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("attack" as const),
      tab,
      node,
      token: fc.nat({ max: 20 }),
      proof: fc.constantFrom("none" as const, "own key" as const, "own key as theirs" as const, "captured" as const),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("wait" as const), seconds: fc.constantFrom(31, 400, 3600, 86_400) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("restart" as const), node }) },
);
