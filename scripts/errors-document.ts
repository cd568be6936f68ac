import {
  commandErrors,
  type ErrorCode,
  type ErrorEntry,
  errors,
  errorsOf,
  type Route,
  routes,
} from "@fieldgate/contract";

/** `docs/errors.md`, from the error table and the routes. */
export function errorsDocument(): string {
  const byStatus = Map.groupBy(Object.entries<ErrorEntry>(errors), ([, { status }]) => status);
  const sections = [...byStatus]
    .toSorted(([one], [other]) => one - other)
    .map(([status, entries]) => `## ${status}\n\n${entries.map(([code, entry]) => section(code, entry)).join("\n")}`);
  return `${intro}\n${sections.join("\n")}`;
}

const intro = `<!-- Written by \`npm run docs\` from packages/contract/src/errors.ts. Change it there. -->

# Errors

Every error is an \`application/problem+json\` body (RFC 9457) with a stable \`code\`:

\`\`\`json
{
  "type": "/docs/errors#invalid_credentials",
  "title": "Invalid credentials",
  "status": 401,
  "detail": "The username or the password is wrong.",
  "code": "invalid_credentials",
  "error": "invalid_credentials",
  "message": "The username or the password is wrong.",
  "instance": "urn:uuid:2f1c9a52-6a53-4c0e-9d8f-5b1f0c7c5a11"
}
\`\`\`

\`error\` repeats \`code\` and \`message\` repeats \`detail\`, for clients that know only those. \`instance\` names the request:
the log and the \`X-Request-Id\` header have the same id. \`field\` is there when one field of the input is wrong. Answers
with 429 and 503 carry \`Retry-After\`, in seconds. A 401 carries \`WWW-Authenticate: Bearer\`.
`;

function section(code: string, { title, detail }: ErrorEntry): string {
  return `### ${code}\n\n${title}. ${detail}\n\n${whereFrom(code as ErrorCode)}\n`;
}

function whereFrom(code: ErrorCode): string {
  const all = Object.values<Route>(routes);
  const answering = all.filter((route) => errorsOf(route).includes(code));
  if (answering.length === all.length) return "Any route may answer it.";
  if (commandErrors.some((one) => one === code)) return "Said by the command line.";
  if (answering.length === 0) return "Answered where there is no such route.";
  return `Answered by ${answering.map(({ method, path }) => `\`${method} ${path}\``).join(", ")}.`;
}
