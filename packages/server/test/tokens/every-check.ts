import { routes } from "@fieldgate/contract";
import { expect } from "vitest";
import type { Answer } from "../kit/api-client.ts";
import type { TestNode } from "../kit/node.ts";

/** What an HTTP header can carry; a body can carry anything. */
const fitsHeader = (token: string) => token.length < 12_000 && /^[\x21-\x7e]+(?: +[\x21-\x7e]+)*$/.test(token);

/** Shows a token to every endpoint that takes one, in every way it can be sent. */
export async function showEverywhere({ api }: TestNode, token: string): Promise<Map<string, Answer>> {
  const body = { token };
  const ways: [string, Promise<Answer>][] = [["POST body", api.call(routes.checkStoredToken, { body })]];
  if (fitsHeader(token)) {
    ways.push(["GET", api.call(routes.checkToken, { token })]);
    ways.push(["POST Bearer", api.call(routes.checkStoredToken, { token })]);
    ways.push(["POST both", api.call(routes.checkStoredToken, { token, body })]);
    ways.push(["me", api.call(routes.me, { token })]);
  }
  return new Map(await Promise.all(ways.map(async ([way, answer]) => [way, await answer] as const)));
}

/** The body without the name of the one request. */
export const withoutInstance = (text: string) => text.replace(/"instance":"urn:uuid:[0-9a-f-]{36}"/, '"instance":"…"');

const refusal = withoutInstance(
  JSON.stringify({
    type: "/docs/errors#invalid_token",
    title: "Invalid token",
    status: 401,
    detail: "The token is missing, expired or not valid. Refresh it or sign in again.",
    code: "invalid_token",
    error: "invalid_token",
    message: "The token is missing, expired or not valid. Refresh it or sign in again.",
    instance: "urn:uuid:00000000-0000-0000-0000-000000000000",
  }),
);

/** One answer for everything that can be wrong with a token: it never says which. */
export async function demandRefusal(node: TestNode, ...tokens: readonly string[]): Promise<void> {
  const shown = await Promise.all(tokens.map(async (token) => ({ token, answers: await showEverywhere(node, token) })));
  for (const { token, answers } of shown) {
    for (const [way, answer] of answers) {
      const about = `${way} ${token.slice(0, 400)}: ${answer.text}`;
      expect(answer.status, about).toBe(401);
      expect(withoutInstance(answer.text), about).toBe(refusal);
      expect(answer.headers.get("www-authenticate"), about).toBe('Bearer error="invalid_token"');
      expect(answer.headers.get("cache-control"), about).toBe("no-store");
    }
  }
}

export async function demandWelcome(node: TestNode, ...tokens: readonly string[]): Promise<void> {
  for (const token of tokens) {
    for (const [way, answer] of await showEverywhere(node, token)) {
      expect(answer.status, `${way}: ${answer.text}`).toBe(200);
    }
  }
}
