import { createHash } from "node:crypto";
import { startHost } from "./host.ts";
import { type IdentityProvider, type IdentityProviderOptions, joinProvider } from "./identity-provider.ts";
import { createIssuer } from "./issuer.ts";
import { createKeyring } from "./keyring.ts";
import { type Account, demoAccounts } from "./people.ts";

const resource = "urn:fieldgate:account";

/** The same person is somebody else in each realm, and the same one after a restart. */
function subjectIn(realm: string, { username }: Account): string {
  const hex = createHash("sha256").update(`${realm}/${username}`).digest("hex");
  return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, "$1-$2-4$3-8$4-$5");
}

/**
 * An identity provider shaped like the self-hosted ones (`oidc_b`): an issuer for each realm, `{authority}/realms/{realm}`. The
 * realms share a signing key, so a signature alone does not tell them apart. Access tokens are JWTs with `typ: "Bearer"`, `azp` and
 * the roles in `realm_access`.
 */
export async function startRealmProvider(
  options: IdentityProviderOptions & { readonly realms?: readonly string[] } = {},
): Promise<IdentityProvider> {
  const { port = 0, accounts = demoAccounts, clients = [], realms = ["demo", "other"] } = options;
  const keyring = createKeyring();
  const host = await startHost(port, async (request, response) => {
    const issuer = issuers.find(({ issuer: id }) => request.url?.startsWith(`${new URL(id).pathname}/`));
    if (issuer) return issuer.handle(request, response);
    response.writeHead(404, { "content-type": "application/json" }).end('{"error":"Realm does not exist"}');
  });

  const issuers = realms.map((realm) =>
    createIssuer(
      {
        issuer: `${host.url}/realms/${realm}`,
        title: `Realm ${realm}`,
        cookies: `realm_${realm}`,
        routes: {
          authorization: "/protocol/openid-connect/auth",
          token: "/protocol/openid-connect/token",
          jwks: "/protocol/openid-connect/certs",
          userinfo: "/protocol/openid-connect/userinfo",
          end_session: "/protocol/openid-connect/logout",
          revocation: "/protocol/openid-connect/revoke",
          introspection: "/protocol/openid-connect/token/introspect",
        },
        parameters: [],
        accounts: accounts.filter((account) => account.realms.includes(realm)),
        subjectOf: (account) => subjectIn(realm, account),
        refuse: () => null,
        idClaims: (_account, { clientId }) => ({ typ: "ID", azp: clientId }),
        accessClaims: ({ roles, username, name, email }, { clientId }) => ({
          typ: "Bearer",
          azp: clientId,
          realm_access: { roles },
          preferred_username: username,
          name,
          email,
          email_verified: true,
        }),
        resource: () => resource,
        audience: () => "account",
      },
      keyring,
    ),
  );
  return joinProvider({ host, keyring, issuers, authority: host.url, clients });
}
