import { connect as connectTcp } from "node:net";
import { connect as connectTls } from "node:tls";
import type { HttpGatewayConfig, ReceiptRule } from "../config/delivery-config.ts";
import { answerFits, valueAt } from "./answer-path.ts";
import {
  type Accepted,
  type Channel,
  ChannelBusy,
  ChannelRefused,
  type OutboundMessage,
  type Receipt,
} from "./channel.ts";
import { fill, fillBody, valuesOf } from "./fill-template.ts";
import type { ChannelParts } from "./open-channels.ts";
import { readUpTo } from "./read-up-to.ts";
import { smsText } from "./sms-text.ts";
import { untilAborted } from "./until-aborted.ts";

/** An answer is a few lines of JSON; more is not read. */
const longestAnswer = 64 * 1024;
/** 4xx that are about us and not about the message: a wrong key, no credit, too fast. Another time they may pass. */
const mayPass = new Set([401, 402, 403, 404, 407, 408, 409, 421, 423, 425, 429]);

/** Messages through any gateway that takes an HTTP request. It follows no redirect: the message goes where it was told. */
export function createHttpChannel(config: HttpGatewayConfig, { fetch, baseUrl }: ChannelParts): Channel {
  const { name, receipts } = config;
  const receiptUrl = receipts ? `${baseUrl}/api/delivery/receipts/${name}/${receipts.secret}` : "";

  async function send(message: OutboundMessage, signal: AbortSignal): Promise<Accepted> {
    const values = valuesOf(message, receiptUrl);
    const body = config.body && fillBody(config.body, values);
    const headers = new Headers({ "Idempotency-Key": message.id });
    if (body) headers.set("Content-Type", body.type);
    for (const [key, value] of Object.entries(config.headers)) headers.set(key, fill(value, values));
    let response: Response;
    try {
      response = await fetch(fill(config.url, values, encodeURIComponent), {
        method: config.method,
        redirect: "manual",
        signal,
        headers,
        ...(body && { body: body.text }),
      });
    } catch (error) {
      throw signal.aborted ? error : new Error(`${name} cannot be reached: ${reasonOf(error)}.`);
    }
    return judge(response, message, signal);
  }

  async function judge(response: Response, message: OutboundMessage, signal: AbortSignal): Promise<Accepted> {
    const { status } = response;
    const { success, refused, messageId } = config;
    const answer = await readJson(response, signal);
    if (refused && answerFits(answer, refused)) throw new ChannelRefused(`${name} refused a message: ${status}.`);
    if (status < success.status.from || status > success.status.to) throw failure(response);
    if (success.answer && !answerFits(answer, success.answer)) {
      throw new Error(`${name} answered ${status}, but not with what means success.`);
    }
    const id = messageId === null ? undefined : valueAt(answer, messageId);
    return {
      ...(config.medium === "sms" && { parts: smsText(message.text, 0).parts.length }),
      ...((typeof id === "string" || typeof id === "number") && { providerId: String(id) }),
    };
  }

  /** The answer where it matters; undefined where it is no JSON, too long, or cut off: its status still counts. */
  async function readJson(response: Response, signal: AbortSignal): Promise<unknown> {
    const matters = config.success.answer !== null || config.refused !== null || config.messageId !== null;
    if (!matters) await response.body?.cancel().catch(() => {});
    if (!matters || !response.body) return undefined;
    try {
      return JSON.parse(await readUpTo(response.body, longestAnswer));
    } catch (error) {
      if (signal.aborted) throw error;
      return undefined;
    }
  }

  function failure(response: Response): Error {
    const { status } = response;
    const sentence = `${name} answered ${status || "with a redirect"}.`;
    if (status === 429 || status === 503) return new ChannelBusy(sentence, retryAfterMs(response));
    return status >= 400 && status < 500 && !mayPass.has(status) ? new ChannelRefused(sentence) : new Error(sentence);
  }

  return {
    name,
    medium: config.medium,
    parallel: config.parallel,
    timeoutMs: config.timeoutMs,
    send,
    ...(receipts && { receipts: { secret: receipts.secret, read: (body) => readReceipt(receipts, body) } }),
    verify: (signal) => reach(config, signal),
    async close() {},
  };
}

/** As long as a name for a message gets. */
const longestId = 256;

function readReceipt(rule: ReceiptRule, body: unknown): Receipt | "on its way" | null {
  const id = valueAt(body, rule.id);
  const status = valueAt(body, rule.status);
  const isText = (value: unknown) => typeof value === "string" || typeof value === "number";
  if (!isText(id) || !isText(status) || String(id).length > longestId) return null;
  const delivered = rule.delivered.includes(String(status));
  if (!delivered && !rule.failed.includes(String(status))) return "on its way";
  return { providerId: String(id), delivered };
}

function retryAfterMs(response: Response): number {
  const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : 1000;
}

/** The system's word for it, without the address: that may hold a number. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  if (cause instanceof Error && "code" in cause) return String(cause.code);
  return cause instanceof Error && /^[a-z ]{1,40}$/i.test(cause.message) ? cause.message : "unknown";
}

/** Connects and says nothing: a request could be taken for a message. */
async function reach({ name, url }: HttpGatewayConfig, signal: AbortSignal): Promise<void> {
  const { protocol, hostname, port } = new URL(url);
  const host = hostname.replace(/^\[(.*)\]$/, "$1");
  const secure = protocol === "https:";
  const target = { host, port: Number(port) || (secure ? 443 : 80) };
  const socket = secure ? connectTls({ ...target, servername: host }) : connectTcp(target);
  try {
    const reached = new Promise<void>((resolve, reject) => {
      socket.once(secure ? "secureConnect" : "connect", () => resolve());
      socket.once("error", (error) => reject(new Error(`${name} cannot be reached: ${reasonOf(error)}.`)));
    });
    await untilAborted(reached, signal);
  } finally {
    socket.destroy();
  }
}
