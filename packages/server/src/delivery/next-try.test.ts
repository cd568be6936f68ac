import { describe, expect, test } from "vitest";
import { ChannelBusy, ChannelRefused } from "./channel.ts";
import { nextTry } from "./next-try.ts";

const first = { attempts: 1, channelIndex: 0, channels: 1, leftMs: 600_000 };
const failed = new Error("it hung up");
const refused = new ChannelRefused("no such number");

describe("the next try", () => {
  test("waits longer each time, on the only channel there is", () => {
    const delays = [1, 2, 3, 4, 7, 12].map((attempts) => nextTry(failed, { ...first, attempts })?.delayMs);
    expect(delays).toEqual([1000, 2000, 4000, 8000, 60_000, 60_000]);
  });

  test("goes to the next channel at once after two failures, and after one refusal", () => {
    const two = { ...first, channels: 2 };
    expect(nextTry(failed, two)).toEqual({ delayMs: 1000, channelIndex: 0 });
    expect(nextTry(failed, { ...two, attempts: 2 })).toEqual({ delayMs: 0, channelIndex: 1 });
    expect(nextTry(refused, two)).toEqual({ delayMs: 0, channelIndex: 1 });
  });

  test("comes back to the first channel only after a wait: two that refuse make no busy loop", () => {
    const last = { ...first, channels: 2, channelIndex: 1, attempts: 3 };
    expect(nextTry(refused, last)).toEqual({ delayMs: 4000, channelIndex: 2 });
  });

  test("there is none when the only channel refuses, when the time is over, or after many", () => {
    expect(nextTry(refused, first)).toBeNull();
    expect(nextTry(failed, { ...first, leftMs: 10_000 })).toBeNull();
    expect(nextTry(failed, { ...first, attempts: 20 })).toBeNull();
  });

  test("comes as late as the channel asks for, and never after the code", () => {
    expect(nextTry(new ChannelBusy("slower", 30_000), first)?.delayMs).toBe(30_000);
    expect(nextTry(new ChannelBusy("slower", 3_600_000), first)?.delayMs).toBe(60_000);
    expect(nextTry(failed, { ...first, attempts: 12, leftMs: 30_000 })?.delayMs).toBe(15_000);
  });
});
