import type { Clock } from "./clock.ts";
import type { Config } from "./config/config.ts";
import type { IdBreaker } from "./flows/id-breaker.ts";
import type { DataKeys } from "./people/data-keys.ts";
import type { PasswordHasher } from "./people/password-hash.ts";
import type { ProviderDirectory } from "./people/provider-directory.ts";
import type { TenantDirectory } from "./people/tenant-directory.ts";
import type { Store } from "./store/store.ts";
import type { AccessTokens } from "./tokens/access-token.ts";
import type { DpopNonces } from "./tokens/dpop-nonce.ts";
import type { Keyring } from "./tokens/keyring.ts";
import type { ProviderTokens } from "./tokens/providers/provider-tokens.ts";
import type { Revocations } from "./tokens/revocations.ts";
import type { TokenCheck } from "./tokens/token-check.ts";

/** What the flows work with: made once by `app`, passed to each of them. */
export interface Services {
  readonly config: Config;
  readonly clock: Clock;
  readonly store: Store;
  readonly keyring: Keyring;
  readonly accessTokens: AccessTokens;
  readonly tokenCheck: TokenCheck;
  readonly revocations: Revocations;
  readonly nonces: DpopNonces;
  readonly hasher: PasswordHasher;
  readonly tenants: TenantDirectory;
  readonly providers: ProviderDirectory;
  readonly providerTokens: ProviderTokens;
  readonly dataKeys: DataKeys;
  readonly idBreaker: IdBreaker;
}
