import { randomUUID } from "node:crypto";
import {
  type CitizenSession,
  type Problem,
  type PulledEvent,
  routes,
  type SyncEvent,
  type SyncPullResponse,
  type SyncPushResponse,
} from "@fieldgate/contract";
import type { ApiClient } from "../kit/api-client.ts";
import { goodPassword, type TestNode } from "../kit/node.ts";
import type { TestChannel } from "../kit/test-channel.ts";

/** A signed-in device that makes events and exchanges them. */
export class Device {
  readonly api: ApiClient;
  readonly token: string;
  #sequence = 0;

  constructor(api: ApiClient, token: string) {
    this.api = api;
    this.token = token;
  }

  /** The device of a worker who was added with the usual password. */
  static async ofWorker(node: TestNode, username: string, tenantId = "demo"): Promise<Device> {
    const { body, status, text } = await node.api.login({ username, password: goodPassword, tenantId });
    if (status !== 200) throw new Error(text);
    return new Device(node.api, body.token);
  }

  /** The device of a citizen who signs in with a code. */
  static async ofCitizen(node: TestNode, sms: TestChannel, phone: string, tenantId = "demo"): Promise<Device> {
    const before = sms.sent.length;
    await node.api.call(routes.otpRequest, { body: { recipient: phone, tenantId } });
    const code = await sms.codeFor(phone, before);
    const { body } = await node.api.call<CitizenSession & Problem>(routes.otpVerify, {
      body: { recipient: phone, code, tenantId },
    });
    return new Device(node.api, body.token);
  }

  event(type: string, data: SyncEvent["data"], more: Partial<SyncEvent> = {}): SyncEvent {
    this.#sequence += 1;
    const deviceTime = new Date().toISOString();
    const own = { id: randomUUID(), entityId: randomUUID(), sequence: this.#sequence, baseVersion: 0 };
    return { ...own, type, data, deviceTime, ...more };
  }

  /** A push as it is answered, whatever it holds. */
  send(body: unknown) {
    return this.api.call<SyncPushResponse & Problem>(routes.syncPush, { body, token: this.token });
  }

  /** The results of a push that is answered with 200. */
  async push(...events: unknown[]): Promise<SyncPushResponse["results"]> {
    const { status, body, text } = await this.send({ deviceId: "tablet", events });
    if (status !== 200) throw new Error(text);
    return body.results;
  }

  /** Pushes what must be accepted. */
  async pushAll(...events: SyncEvent[]): Promise<void> {
    const bad = (await this.push(...events)).find(({ status }) => status !== "accepted");
    if (bad) throw new Error(JSON.stringify(bad));
  }

  fetch(query = "") {
    const route = { ...routes.syncPull, path: `${routes.syncPull.path}${query}` };
    return this.api.call<SyncPullResponse & Problem>(route, { token: this.token });
  }

  /** Everything behind a cursor, page by page. */
  async pull(cursor = "", limit = 500): Promise<{ events: PulledEvent[]; cursor: string; pages: number }> {
    const events: PulledEvent[] = [];
    for (let at = cursor, pages = 1; ; pages += 1) {
      const { status, body, text } = await this.fetch(`?cursor=${at}&limit=${limit}`);
      if (status !== 200) throw new Error(text);
      events.push(...body.events);
      at = body.cursor;
      if (!body.more) return { events, cursor: at, pages };
    }
  }
}

/** A person as a worker registers them. */
export const person = (given: string, more: Record<string, unknown> = {}) => ({ names: { given }, ...more });
