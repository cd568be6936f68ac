import { boundsProblems, isPlainObject, type Problem } from "./bounds.ts";
import { defaultPolicy, type Policy } from "./policy.ts";
import { policyBounds } from "./policy-bounds.ts";

type Tree = { readonly [key: string]: number | boolean | Tree };

function override(base: Tree, over: Tree): Tree {
  const entries = Object.entries(base).map(([key, value]) => {
    const other = over[key];
    if (other === undefined) return [key, value];
    return [key, typeof value === "object" ? override(value, other as Tree) : other];
  });
  return Object.fromEntries(entries);
}

/** Numbers that are each within bounds but make no sense together. */
function contradictions({ sessions, password, revocation, keys, http }: Policy): Problem[] {
  const pairs: [number, number, string, string][] = [
    [sessions.bound.idle, sessions.bound.absolute, "sessions.bound.idle", "sessions.bound.absolute"],
    [sessions.plain.idle, sessions.plain.absolute, "sessions.plain.idle", "sessions.plain.absolute"],
    [password.perUser.lock, password.perUser.maxLock, "password.perUser.lock", "password.perUser.maxLock"],
    [password.perDevice.lock, password.perDevice.maxLock, "password.perDevice.lock", "password.perDevice.maxLock"],
    [revocation.poll, revocation.stale, "revocation.poll", "revocation.stale"],
    [keys.lead, keys.life, "keys.lead", "keys.life"],
    [http.headersTimeout, http.requestTimeout, "http.headersTimeout", "http.requestTimeout"],
  ];
  return pairs
    .filter(([less, more]) => less > more)
    .map(([less, more, field, other]) => ({
      field,
      sentence: `${field} (${less}) must not be greater than ${other} (${more}).`,
    }));
}

/** The policy with a deployment's overrides, given as JSON such as `{"password":{"minLength":20}}`. */
export function parsePolicy(json: string): { readonly policy: Policy; readonly problems: readonly string[] } {
  let over: unknown;
  try {
    over = JSON.parse(json);
  } catch {
    return { policy: defaultPolicy, problems: ['must be JSON such as {"password":{"minLength":20}}.'] };
  }
  if (!isPlainObject(over)) return { policy: defaultPolicy, problems: ["must be a JSON object."] };
  const outside = boundsProblems(over, policyBounds, "");
  if (outside.length > 0) {
    return { policy: defaultPolicy, problems: outside.map(({ sentence }) => sentence) };
  }
  const policy = override(defaultPolicy as unknown as Tree, over as Tree) as unknown as Policy;
  return { policy, problems: contradictions(policy).map(({ sentence }) => sentence) };
}
