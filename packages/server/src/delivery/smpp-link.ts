import { setTimeout as sleep } from "node:timers/promises";
import type { Pdu } from "smpp";
import type { SmppConfig } from "../config/delivery-config.ts";
import { BindRefused, openSmppConnection, type SmppConnection } from "./smpp-connection.ts";
import { untilAborted } from "./until-aborted.ts";

/** A connection that is made again whenever it ends. */
export interface SmppLink {
  /** The connection, as soon as there is one; rejects with the last error when it takes too long. */
  bound(signal: AbortSignal): Promise<SmppConnection>;
  close(): Promise<void>;
}

const connectMs = 10_000;
const firstPauseMs = 500;
const longestPauseMs = 15_000;
/** Wrong passwords lock accounts: after a refusal we are slower. */
const refusedPauseMs = 60_000;
const steadyMs = 5000;

export function keepBound(config: SmppConfig, onDeliver: (pdu: Pdu) => void): SmppLink {
  const closing = new AbortController();
  let connection: SmppConnection | null = null;
  let lastError = new Error(`${config.name} is not connected yet.`);
  let next = Promise.withResolvers<SmppConnection>();

  async function live(): Promise<void> {
    let pauseMs = firstPauseMs;
    while (!closing.signal.aborted) {
      const start = performance.now();
      let longest = longestPauseMs;
      try {
        const signal = AbortSignal.any([AbortSignal.timeout(connectMs), closing.signal]);
        connection = await openSmppConnection(config, signal, onDeliver);
        next.resolve(connection);
        lastError = await connection.ended;
        next = Promise.withResolvers();
      } catch (error) {
        lastError = error instanceof Error ? error : new Error(String(error));
        if (error instanceof BindRefused) longest = refusedPauseMs;
      }
      connection = null;
      if (performance.now() - start > steadyMs) pauseMs = firstPauseMs;
      await sleep(pauseMs * (0.75 + Math.random() / 2), undefined, { signal: closing.signal, ref: false }).catch(
        () => {},
      );
      pauseMs = Math.min(pauseMs * 2, longest);
    }
  }

  const living = live();
  return {
    async bound(signal) {
      if (connection) return connection;
      return untilAborted(next.promise, signal).catch(() => {
        throw lastError;
      });
    },
    async close() {
      closing.abort();
      await connection?.close();
      await living;
    },
  };
}
