import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from "jose";

export type Claims = Record<string, unknown>;

interface SigningKey {
  readonly kid: string;
  readonly alg: string;
  readonly privateKey: CryptoKey;
  readonly jwk: JWK;
}

/** How the provider answers: as it should, or in one of the ways that must harm nobody. */
export type Mood =
  | "well"
  | "away"
  | "hang"
  | "drip"
  | "redirect"
  | "huge"
  | "not-json"
  | "lie"
  | "no-keys"
  | "many-keys";

/**
 * An identity provider of a few lines: discovery and keys for any issuer beneath its address, and whatever token a test
 * wants to have signed. All its realms share their signing keys.
 */
export class LittleProvider {
  readonly url: string;
  readonly #server: Server;
  mood: Mood = "well";
  /** Issuers with a slash at their end, as some hosted providers have. */
  slash = false;
  keys: SigningKey[] = [];
  /** Requests for the keys. */
  keyFetches = 0;
  discoveries = 0;
  introspections: URLSearchParams[] = [];
  introspected: Claims = { active: false };
  readonly #now: () => number;

  private constructor(server: Server, now: () => number) {
    this.#server = server;
    this.#now = now;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.on("request", (request, response) => void this.#answer(request, response));
  }

  static async start(now: () => number = Date.now): Promise<LittleProvider> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const provider = new LittleProvider(server, now);
    await provider.rotate();
    return provider;
  }

  /** Signs with a new key from now on; the old ones are forgotten. */
  async rotate(alg = "ES256"): Promise<SigningKey> {
    const key = await newKey(alg);
    this.keys = [key];
    return key;
  }

  get seconds(): number {
    return Math.floor(this.#now() / 1000);
  }

  /** Any token; what is undefined is left out. */
  sign(claims: Claims, { header = {}, key = this.keys[0] }: { header?: Claims; key?: SigningKey } = {}) {
    if (!key) throw new Error("The provider has no key.");
    const { alg, kid, privateKey } = key;
    const known = Object.fromEntries(Object.entries(claims).filter(([, value]) => value !== undefined));
    return new SignJWT(known).setProtectedHeader({ alg, kid, ...header }).sign(privateKey);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? "";
    const isDiscovery = path.endsWith("/.well-known/openid-configuration");
    if (isDiscovery) this.discoveries += 1;
    else if (path.endsWith("/jwks")) this.keyFetches += 1;
    if (this.#misbehave(path, response)) return;
    if (isDiscovery) {
      const issuer = `${this.url}${path.replace("/.well-known/openid-configuration", "")}`;
      send(response, {
        issuer: this.mood === "lie" ? "https://someone.else.example" : `${issuer}${this.slash ? "/" : ""}`,
        jwks_uri: `${issuer}/jwks`,
        introspection_endpoint: `${issuer}/introspect`,
      });
    } else if (path.endsWith("/jwks")) {
      const keys = this.keys.map(({ jwk }) => jwk);
      const many = Array.from({ length: 101 }, () => ({ ...keys[0], kid: randomUUID() }));
      send(response, { keys: this.mood === "no-keys" ? [] : this.mood === "many-keys" ? many : keys });
    } else if (path.endsWith("/introspect")) {
      let body = "";
      for await (const piece of request) body += String(piece);
      this.introspections.push(new URLSearchParams(`${body}&authorization=${request.headers.authorization}`));
      send(response, this.introspected);
    } else response.writeHead(404).end();
  }

  /** True when the answer was given, or will never be. */
  #misbehave(path: string, response: ServerResponse): boolean {
    switch (this.mood) {
      case "away":
        response.socket?.destroy();
        return true;
      case "hang":
        return true;
      case "drip": {
        response.writeHead(200, { "content-type": "application/json" });
        const timer = setInterval(() => response.write(" "), 200);
        response.on("close", () => clearInterval(timer));
        return true;
      }
      case "redirect":
        response.writeHead(302, { location: `${this.url}/elsewhere${path}` }).end();
        return true;
      case "huge":
        response.writeHead(200, { "content-type": "application/json" });
        response.end(`{"keys":[],"padding":"${"x".repeat(300_000)}"}`);
        return true;
      case "not-json":
        response.writeHead(200, { "content-type": "application/json" }).end("<html>");
        return true;
      default:
        return false;
    }
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

export async function newKey(alg: string, kid: string = randomUUID()): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  return { kid, alg, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: "sig" } };
}

function send(response: ServerResponse, body: unknown): void {
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
}
