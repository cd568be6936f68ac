import { startHost } from "./host.ts";
import { type IdentityProvider, type IdentityProviderOptions, joinProvider } from "./identity-provider.ts";
import { createIssuer } from "./issuer.ts";
import { createKeyring } from "./keyring.ts";
import { demoAccounts } from "./people.ts";

/**
 * An identity provider shaped like the hosted ones (`oidc_a`): the `organization` parameter asks for a membership, which tokens
 * state as `org_id`; the `audience` parameter makes the access token a JWT for that API, without it the token is opaque; the
 * issuer ends with a slash.
 */
export async function startHostedProvider(options: IdentityProviderOptions = {}): Promise<IdentityProvider> {
  const { port = 0, accounts = demoAccounts, clients = [] } = options;
  const keyring = createKeyring();
  const host = await startHost(port, (request, response) => issuer.handle(request, response));
  const organizationClaim = ({ organization }: { organization: string | undefined }) =>
    organization === undefined ? {} : { org_id: organization };

  const issuer = createIssuer(
    {
      issuer: `${host.url}/`,
      title: "Hosted identity provider",
      cookies: "hosted",
      routes: {
        authorization: "/authorize",
        token: "/oauth/token",
        jwks: "/.well-known/jwks.json",
        userinfo: "/userinfo",
        end_session: "/oidc/logout",
        revocation: "/oauth/revoke",
        introspection: "/oauth/introspect",
      },
      parameters: ["organization", "audience"],
      accounts,
      subjectOf: ({ username }) => `hosted|${username}`,
      refuse({ username, organizations }, { organization }) {
        if (organization === undefined || organizations.includes(String(organization))) return null;
        return `user ${username} is not part of the ${organization} organization`;
      },
      idClaims: (_account, facts) => ({ org_id: facts.organization }),
      accessClaims: ({ roles }, facts) => ({
        azp: facts.clientId,
        ...organizationClaim(facts),
        "https://fieldgate.example/roles": roles,
      }),
      resource: ({ audience }) => (typeof audience === "string" ? audience : undefined),
      audience: (resource) => [resource, `${host.url}/userinfo`],
    },
    keyring,
  );
  return joinProvider({ host, keyring, issuers: [issuer], authority: host.url, clients });
}
