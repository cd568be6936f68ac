import type { SignInAnswer } from "../session.ts";
import type { AdapterContext, Credentials, SignedIn } from "./adapter.ts";
import { ServerAuthAdapter } from "./server-adapter.ts";

/** Username and password: the way in of `login` without a type. */
export class PasswordAuthAdapter extends ServerAuthAdapter {
  protected readonly waysIn = "login(credentials)";

  constructor(context: AdapterContext) {
    super(context.serverBaseUrl, context);
  }

  override async login(credentials: Credentials | null): Promise<SignedIn> {
    const { username = "", password = "" } = credentials ?? {};
    const { tenantId } = this.context;
    const body = { username, password, ...(tenantId && { tenantId }) };
    return this.context.signIn((request) => this.api.request<SignInAnswer>("/api/users/login", { ...request, body }), {
      server: this.api.url,
      bind: true,
      name: username,
    });
  }
}
