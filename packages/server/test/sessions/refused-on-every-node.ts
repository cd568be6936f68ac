import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import type { Deployment } from "./deployment.ts";

/** What is promised: an ended session's access token is refused everywhere within five seconds. */
const promisedMs = 5000;

/** Asks every node until each of the access tokens is refused there; fails when that takes longer than promised. */
export async function refusedOnEveryNode(
  deployment: Deployment,
  sessions: readonly { readonly token: string }[],
): Promise<void> {
  const endedAt = performance.now();
  for (const { api } of deployment.nodes) {
    for (const { token } of sessions) {
      let answer = await api.checkToken(token);
      while (answer.status === 200 && performance.now() - endedAt < promisedMs) {
        await sleep(50);
        answer = await api.checkToken(token);
      }
      expect([answer.status, answer.body.code]).toEqual([401, "session_revoked"]);
      expect((await api.me(token)).body.code).toBe("session_revoked");
    }
  }
}
