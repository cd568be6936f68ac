import type { ApiClient } from "../api-client.ts";
import { type Claims, readClaims } from "../encoding.ts";
import { AuthError, NetworkError } from "../errors.ts";
import type { AdapterContext, AuthAdapter, Credentials, SignedIn } from "./adapter.ts";

/** What the built-in adapters share: sessions of a Fieldgate service, and how their tokens are validated. */
export abstract class ServerAuthAdapter implements AuthAdapter {
  protected readonly context: AdapterContext;
  protected readonly api: ApiClient;
  /** The methods to use instead of `login`. */
  protected abstract readonly waysIn: string;

  constructor(serverUrl: string | undefined, context: AdapterContext) {
    this.context = context;
    this.api = context.connect(serverUrl);
  }

  async initialize(): Promise<void> {}

  async login(_credentials: Credentials | null): Promise<SignedIn> {
    throw new AuthError("unsupported", `The ${this.context.provider} adapter has no login(): use ${this.waysIn}.`);
  }

  async logout(): Promise<void> {
    await this.context.signOut();
  }

  async isAuthenticated(): Promise<boolean> {
    const session = await this.context.session();
    return !!session?.token && this.validateToken(session.token);
  }

  validateToken(token: string): Promise<boolean> {
    return this.context.environment === "backend" ? this.validateInBackend(token) : this.validateInFrontend(token);
  }

  /** The server's verdict and the local rules; the local rules alone while the server cannot be asked. */
  protected async validateInFrontend(token: string): Promise<boolean> {
    // The server first: its answer also sets our clock right, which the local rules rely on.
    const verdict = await this.context.checkToken(token, this.api);
    const claims = readClaims(token);
    return verdict !== "invalid" && claims !== null && this.validateClaims(claims);
  }

  /** As in a frontend, but without the server's verdict nothing is called valid: rejects while it cannot be asked. */
  protected async validateInBackend(token: string): Promise<boolean> {
    const isValid = await this.validateInFrontend(token);
    if (isValid && (await this.context.checkToken(token, this.api)) !== "valid") {
      throw new NetworkError(`${this.api.url} did not answer.`);
    }
    return isValid;
  }

  /** The local rules, at every use of a token. Override to add your own; call `super.validateClaims` first. */
  protected async validateClaims(claims: Claims): Promise<boolean> {
    const { tenantId } = this.context;
    return Number(claims.exp) * 1000 > this.context.now() && (!tenantId || claims.tenantId === tenantId);
  }
}
