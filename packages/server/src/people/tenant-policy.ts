import type { Policy, TenantPolicy } from "../config/policy.ts";

/** The deployment's numbers with a tenant's own in their place. */
export function tenantPolicy(policy: Policy, own: TenantPolicy): Policy {
  return {
    ...policy,
    tokens: { ...policy.tokens, ...own.tokens },
    sessions: {
      ...policy.sessions,
      bound: { ...policy.sessions.bound, ...own.sessions?.bound },
      plain: { ...policy.sessions.plain, ...own.sessions?.plain },
      allowPlain: own.sessions?.allowPlain ?? policy.sessions.allowPlain,
    },
    password: { ...policy.password, ...own.password },
  };
}
