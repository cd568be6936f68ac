import { randomUUID } from "node:crypto";
import type { Session } from "@fieldgate/contract";
import { decodeJwt } from "jose";
import type { Selectable } from "kysely";
import { expect } from "vitest";
import type { Config } from "../../src/config/config.ts";
import type { Policy } from "../../src/config/policy.ts";
import { findWorker, type Worker } from "../../src/people/workers.ts";
import { openStore } from "../../src/store/open-store.ts";
import type { SessionTable } from "../../src/store/schema.ts";
import type { Queries, Store } from "../../src/store/store.ts";
import { MovableClock } from "../kit/clock.ts";
import type { FreshDatabase, TestDatabase } from "../kit/databases.ts";
import { DpopKey } from "../kit/dpop-key.ts";
import { goodPassword, startNode, type TestNode } from "../kit/node.ts";

/** Where clients believe the service to be, whichever node answers. */
export const publicUrl = "https://id.fieldgate.example";

/** Nodes beside each other on one database, behind one address. */
export interface Deployment {
  readonly clock: MovableClock;
  readonly database: FreshDatabase;
  /** A connection of its own, such as a command line beside the nodes has. */
  readonly store: Store;
  readonly nodes: readonly TestNode[];
  /** The first node. */
  readonly node: TestNode;
  startNode(options?: DeploymentOptions): Promise<TestNode>;
  /** Stops a node, and starts one in its place. */
  restart(node: TestNode): Promise<TestNode>;
  /** Signs a new worker in. */
  signIn(options?: SignInOptions): Promise<SignedIn>;
  /** The worker as the command line would find them. */
  worker(username: string, tenantId?: string): Promise<Worker>;
  /** Changes something as the command line would. */
  change<T>(work: (tx: Queries) => Promise<T>): Promise<T>;
  row(session: { readonly token: string }): Promise<Selectable<SessionTable>>;
  close(): Promise<void>;
}

export interface DeploymentOptions {
  readonly nodes?: number;
  readonly config?: Partial<Config>;
  readonly policy?: Partial<Policy>;
}

export interface SignInOptions {
  readonly bound?: boolean;
  readonly on?: TestNode;
  /** An existing worker, in place of a new one. */
  readonly username?: string;
  readonly tenantId?: string;
}

export interface SignedIn extends Session {
  /** Null for a plain session. */
  readonly key: DpopKey | null;
  readonly sid: string;
}

export async function deploy({ fresh }: TestDatabase, options: DeploymentOptions = {}): Promise<Deployment> {
  const database = await fresh();
  const clock = new MovableClock();
  const store = await openStore(database.config, clock);
  const nodes: TestNode[] = [];

  async function start(own: DeploymentOptions = {}): Promise<TestNode> {
    return startNode({
      database: database.config,
      clock,
      config: { baseUrl: publicUrl, audience: publicUrl, ...options.config, ...own.config },
      policy: { ...options.policy, ...own.policy },
    });
  }

  const deployment: Deployment = {
    clock,
    database,
    store,
    nodes,
    get node() {
      return nodeAt(nodes, 0);
    },
    async startNode(own) {
      const node = await start(own);
      nodes.push(node);
      return node;
    },
    async restart(node) {
      const place = nodes.indexOf(node);
      await node.close();
      const next = await start();
      nodes[place] = next;
      return next;
    },
    async signIn({ bound = true, on = nodeAt(nodes, 0), username, tenantId = "demo" } = {}) {
      const name = username ?? `worker-${randomUUID()}`;
      if (username === undefined) await nodeAt(nodes, 0).addWorker({ tenantId, username: name });
      const key = bound ? await DpopKey.create() : null;
      const answer = await on.api.login({ username: name, password: goodPassword, tenantId }, key ? { key } : {});
      expect(answer.status, answer.text).toBe(200);
      return { ...answer.body, key, sid: sidOf(answer.body) };
    },
    async worker(username, tenantId = "demo") {
      const worker = await findWorker(store, tenantId, username);
      if (!worker) throw new Error(`There is no worker ${username}.`);
      return worker;
    },
    change: (work) => store.transaction(work),
    row: (session) =>
      store.db.selectFrom("sessions").selectAll().where("id", "=", sidOf(session)).executeTakeFirstOrThrow(),
    async close() {
      await Promise.all(nodes.map((node) => node.close()));
      await store.close();
      await database.drop();
    },
  };

  try {
    for (let count = 0; count < (options.nodes ?? 1); count += 1) await deployment.startNode();
    if (nodes.length > 0) await deployment.node.addTenant("demo");
  } catch (error) {
    await deployment.close();
    throw error;
  }
  return deployment;
}

export function nodeAt(nodes: readonly TestNode[], index: number): TestNode {
  const node = nodes[index];
  if (!node) throw new Error(`There is no node ${index}.`);
  return node;
}

export function sidOf({ token }: { readonly token: string }): string {
  const { sid } = decodeJwt(token);
  if (typeof sid !== "string") throw new Error("The access token names no session.");
  return sid;
}

/** What a call needs to prove the key of a session, if it has one. */
export function proving({ key }: Pick<SignedIn, "key">): { readonly key?: DpopKey } {
  return key ? { key } : {};
}
