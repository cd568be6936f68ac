const maxDepth = 6;
const censor = "[secret]";

/** Names under which secrets and personal data travel, in lower case. */
const secretNames = new Set([
  "authorization",
  "dpop",
  "cookie",
  "set-cookie",
  "x-device-token",
  "password",
  "secret",
  "token",
  "accesstoken",
  "refreshtoken",
  "refreshtokenhash",
  "devicetoken",
  "idtoken",
  "logout_token",
  "salt",
  "selectiontoken",
  "challenge",
  "otp",
  "recipient",
  "idnumber",
  "dateofbirth",
  "qrpayload",
]);

type Line = Record<string, unknown>;

/** A line of the log without what must not be in it, however deep it lies. An innocent line comes back as it is. */
export function redactSecrets(line: Line): Line {
  return redact(line, 0) as Line;
}

function redact(value: unknown, depth: number): unknown {
  if (typeof value !== "object" || value === null || value instanceof Error) return value;
  if (depth === maxDepth) return "[deep]";
  if (Array.isArray(value)) return value.map((item) => redact(item, depth + 1));
  let clean: Line | null = null;
  for (const name of Object.keys(value)) {
    const before = (value as Line)[name];
    const after = secretNames.has(name.toLowerCase()) ? censor : redact(before, depth + 1);
    if (after === before) continue;
    clean ??= { ...value };
    clean[name] = after;
  }
  return clean ?? value;
}
