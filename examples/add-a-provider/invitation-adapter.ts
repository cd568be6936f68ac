import {
  type AdapterConfig,
  type AdapterContext,
  type AuthAdapter,
  AuthManager,
  ConfigurationError,
  type Credentials,
  type SignedIn,
} from "@fieldgate/client";

/** A way in by an invitation: a service of your own turns its code into a name and a token. */
export class InvitationAdapter implements AuthAdapter {
  readonly #service: string;
  readonly #context: AdapterContext;

  constructor({ fields }: AdapterConfig, context: AdapterContext) {
    if (!fields.service?.startsWith("http")) {
      throw new ConfigurationError("invitation.service", `needs the URL of the service, not ${fields.service}`);
    }
    this.#service = fields.service;
    this.#context = context;
  }

  async initialize(): Promise<void> {}

  /** The code travels where a password would. */
  async login(credentials: Credentials | null): Promise<SignedIn> {
    const response = await this.#context.fetch(`${this.#service}/redeem`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ code: credentials?.password ?? "" }),
    });
    if (!response.ok) throw new Error("This invitation is not known, or was used already. Ask for a new one.");
    const { username, token } = (await response.json()) as SignedIn;
    return { username, token };
  }

  /** The storage is emptied by AuthManager; there is nothing else to end here. */
  async logout(): Promise<void> {}

  async isAuthenticated(): Promise<boolean> {
    const session = await this.#context.session();
    return session !== null && this.validateToken(session.token);
  }

  /** True or false is the service's word. Anything else is thrown: it means "cannot tell", and signs nobody out. */
  async validateToken(token: string): Promise<boolean> {
    const response = await this.#context.fetch(`${this.#service}/whoami`, {
      headers: { Authorization: `Bearer ${token}` },
    });
    if (response.status === 401) return false;
    if (!response.ok) throw new Error(`The invitation service answered ${response.status}.`);
    return true;
  }
}

AuthManager.register("invitation", (config, context) => new InvitationAdapter(config, context));

declare module "@fieldgate/client" {
  interface AdapterTypes {
    invitation: InvitationAdapter;
  }
}
