import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import type { Hints } from "../backend.ts";
import { hintChannel } from "../hint.ts";

const firstPause = 500;
const longestPause = 15_000;
const goodbyeMs = 1000;

/** Listens on one connection of its own, and opens it again when it breaks. */
export function listenForHints(options: pg.ClientConfig): Hints {
  const listeners = new Map<string, Set<() => void>>();
  const closing = new AbortController();
  let running: Promise<void> | undefined;

  function tell(topic?: string): void {
    for (const [name, heard] of listeners) {
      if (topic === undefined || topic === name) for (const call of [...heard]) call();
    }
  }

  /** Resolves when the connection has ended. */
  async function listenOnce(): Promise<void> {
    const client = new pg.Client(options);
    const ended = new Promise<void>((resolve) => client.once("end", resolve));
    // An error is followed by the end, and the loop below begins anew.
    client.on("error", () => {});
    client.on("notification", ({ payload }) => tell(payload));
    const stop = () => void leave(client);
    try {
      await client.connect();
      await client.query(`listen ${hintChannel}`);
      if (closing.signal.aborted) return;
      closing.signal.addEventListener("abort", stop);
      // Whatever was said while nobody listened is lost, so everyone looks for themselves.
      tell();
      await ended;
    } finally {
      closing.signal.removeEventListener("abort", stop);
      await leave(client);
    }
  }

  async function listen(): Promise<void> {
    let pause = firstPause;
    while (!closing.signal.aborted) {
      const start = performance.now();
      try {
        await listenOnce();
      } catch {
        // Hints only hasten a poll; the poll itself tells of the outage.
      }
      pause = performance.now() - start > longestPause ? firstPause : Math.min(pause * 2, longestPause);
      const jittered = pause * (0.5 + Math.random() / 2);
      await sleep(jittered, undefined, { ref: false, signal: closing.signal }).catch(() => {});
    }
  }

  return {
    on(topic, heard) {
      const listener = () => heard();
      const heardOfTopic = listeners.get(topic) ?? new Set();
      listeners.set(topic, heardOfTopic.add(listener));
      running ??= listen();
      return () => void heardOfTopic.delete(listener);
    },
    async close() {
      listeners.clear();
      closing.abort();
      await running;
    },
  };
}

/** Says goodbye, and leaves without an answer where there is none: a network that swallows everything keeps nobody. */
async function leave(client: pg.Client): Promise<void> {
  const timer = setTimeout(() => client.connection.stream.destroy(), goodbyeMs);
  await client.end();
  clearTimeout(timer);
}
