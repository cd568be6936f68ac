import { randomBytes, randomUUID } from "node:crypto";
import { type Problem, routes, type Session } from "@fieldgate/contract";
import { calculateJwkThumbprint } from "jose";
import { boundNonce } from "../../src/tokens/providers/provider-tokens.ts";
import type { Answer } from "../kit/api-client.ts";
import { MovableClock } from "../kit/clock.ts";
import type { FreshDatabase, TestDatabase } from "../kit/databases.ts";
import { DpopKey } from "../kit/dpop-key.ts";
import { startNode, type TestNode } from "../kit/node.ts";
import { type Claims, LittleProvider } from "./little-provider.ts";

/** Where clients believe the service to be, whichever node answers. */
const publicUrl = "https://id.fieldgate.example";

/** Two tenants with a hosted provider, two with realms of one server: the shapes of the specification. */
export class Programme {
  readonly clock: MovableClock;
  readonly nodes: TestNode[] = [];
  readonly provider: LittleProvider;
  readonly #database: FreshDatabase;

  private constructor(database: FreshDatabase, provider: LittleProvider, clock: MovableClock) {
    this.#database = database;
    this.provider = provider;
    this.clock = clock;
  }

  static async start({ fresh }: TestDatabase, { nodes = 1 } = {}): Promise<Programme> {
    const clock = new MovableClock();
    const programme = new Programme(await fresh(), await LittleProvider.start(clock.now), clock);
    for (let count = 0; count < nodes; count += 1) await programme.addNode();
    const { hosted, realm, node } = programme;
    await node.addTenant("kenya", hosted("org_kenya"));
    await node.addTenant("uganda", hosted("org_uganda"));
    await node.addTenant("north", realm("north"));
    await node.addTenant("south", realm("south"));
    return programme;
  }

  /** Only the client's side, of a node and a provider that are there. */
  static async client(node: TestNode, provider: LittleProvider): Promise<Pick<Programme, "begin" | "idClaims">> {
    const nothing: FreshDatabase = { config: node.config.database, drop: async () => {} };
    const programme = new Programme(nothing, provider, new MovableClock());
    programme.nodes.push(node);
    return programme;
  }

  async addNode(): Promise<TestNode> {
    const config = { baseUrl: publicUrl, audience: publicUrl, defaultTenant: null };
    const node = await startNode({ database: this.#database.config, clock: this.clock, config });
    this.nodes.push(node);
    return node;
  }

  get node(): TestNode {
    const [node] = this.nodes;
    if (!node) throw new Error("There is no node.");
    return node;
  }

  /** Settings of a tenant whose workers sign in through the hosted provider. */
  readonly hosted = (organization: string, own?: Claims, fields: Claims = {}) => ({
    adapters: [
      {
        type: "oidc_a",
        fields: { authority: this.provider.url, client_id: "app", organization, audience: "https://api", ...fields },
      },
    ],
    ...(own && { identityProviders: { oidc_a: own } }),
  });

  /** Settings of a tenant whose workers sign in through a realm. */
  readonly realm = (realm: string, own?: Claims, fields: Claims = {}) => ({
    adapters: [{ type: "oidc_b", fields: { authority: this.provider.url, client_id: "app", realm, ...fields } }],
    ...(own && { identityProviders: { oidc_b: own } }),
  });

  /** A sign-in at the provider that is about to be exchanged. */
  async begin(): Promise<SignIn> {
    const key = await DpopKey.create();
    const salt = randomBytes(16).toString("base64url");
    return { key, salt, nonce: boundNonce(await calculateJwkThumbprint(key.jwk), salt) };
  }

  /** What each kind of provider says in an ID token of Amina. */
  idClaims(tenantId: string, nonce: string): Claims {
    const now = this.provider.seconds;
    const common = { sub: "amina", aud: "app", iat: now, exp: now + 3600, nonce, name: "Amina Otieno", sid: "s-1" };
    if (tenantId === "kenya" || tenantId === "uganda") {
      return { ...common, iss: this.provider.url, org_id: `org_${tenantId}` };
    }
    return { ...common, iss: `${this.provider.url}/realms/${tenantId}`, azp: "app", typ: "ID" };
  }

  /** What each kind says in an access token of Amina. */
  accessClaims(tenantId: string): Claims {
    const now = this.provider.seconds;
    const common = { sub: "amina", iat: now, exp: now + 300, azp: "app", jti: randomUUID(), sid: "s-1" };
    if (tenantId === "kenya" || tenantId === "uganda") {
      const aud = ["https://api", `${this.provider.url}/userinfo`];
      return { ...common, iss: this.provider.url, aud, org_id: `org_${tenantId}`, scope: "openid profile" };
    }
    const realm_access = { roles: ["offline_access"] };
    return { ...common, iss: `${this.provider.url}/realms/${tenantId}`, aud: "account", typ: "Bearer", realm_access };
  }

  /** Signs Amina in, with other claims where some are given, and exchanges the ID token. */
  async signIn(
    tenantId: string,
    claims: Claims = {},
    options: ExchangeOptions = {},
  ): Promise<Answer<Session & Problem>> {
    const begun = options.begun ?? (await this.begin());
    const idToken = await this.provider.sign({ ...this.idClaims(tenantId, begun.nonce), ...claims });
    return this.exchange(tenantId, idToken, { ...options, begun });
  }

  exchange(tenantId: string, idToken: string, options: ExchangeOptions & { begun: SignIn }) {
    const { begun, on = this.node, type = this.typeOf(tenantId) } = options;
    const body = { type, idToken, salt: begun.salt, tenantId };
    return on.api.call<Session & Problem>(routes.oidcExchange, { body, key: begun.key });
  }

  typeOf(tenantId: string): string {
    return tenantId === "kenya" || tenantId === "uganda" ? "oidc_a" : "oidc_b";
  }

  async accessToken(tenantId: string, claims: Claims = {}): Promise<string> {
    return this.provider.sign({ ...this.accessClaims(tenantId), ...claims });
  }

  async close(): Promise<void> {
    for (const node of this.nodes) await node.close();
    await this.provider.close();
    await this.#database.drop();
  }
}

export interface SignIn {
  readonly key: DpopKey;
  readonly salt: string;
  readonly nonce: string;
}

export interface ExchangeOptions {
  readonly begun?: SignIn;
  readonly on?: TestNode;
  readonly type?: string;
}
