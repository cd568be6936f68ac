import type { Host } from "./host.ts";
import type { Client, Issuer } from "./issuer.ts";
import type { Keyring } from "./keyring.ts";
import type { Account } from "./people.ts";

export interface IdentityProviderOptions {
  /** A free one by default. */
  readonly port?: number;
  readonly accounts?: readonly Account[];
  readonly clients?: readonly Client[];
}

/** A certified identity provider on loopback, with what a test needs to make it misbehave. */
export interface IdentityProvider extends Omit<Host, "url"> {
  /** What an adapter's configuration calls `authority`: the origin, without a slash at its end. */
  readonly authority: string;
  /** The issuers, exactly as tokens name them: one, or one for each realm. */
  readonly issuers: readonly string[];
  /** Lets an application send people here, in every realm. */
  addClient(client: Client): void;
  /** Signs with a new key from now on. The old one stays published, unless it is dropped. */
  rotateKeys(options?: { readonly drop?: boolean }): Promise<void>;
  /** Ends the sessions and grants of a person everywhere, and tells the applications by back-channel logout. */
  revoke(username: string): Promise<void>;
  /** Signs any claims with the provider's key, also ones that no provider would give. */
  sign(claims: object, header?: object): Promise<string>;
}

interface Parts {
  readonly host: Host;
  readonly keyring: Keyring;
  readonly issuers: readonly Issuer[];
  readonly authority: string;
  readonly clients: readonly Client[];
}

export function joinProvider({ host, keyring, issuers, authority, clients }: Parts): IdentityProvider {
  const addClient = (client: Client) => {
    for (const issuer of issuers) issuer.addClient(client);
  };
  for (const client of clients) addClient(client);
  const { url: _origin, ...controls } = host;
  return {
    ...controls,
    authority,
    issuers: issuers.map(({ issuer }) => issuer),
    addClient,
    rotateKeys: keyring.rotate,
    sign: keyring.sign,
    async revoke(username) {
      for (const issuer of issuers) await issuer.revoke(username);
    },
  };
}
