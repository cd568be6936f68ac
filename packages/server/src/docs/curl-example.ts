import type { Route } from "@fieldgate/contract";
import { exampleOf } from "./schema-fields.ts";

/** A call that can be pasted into a shell. */
export function curlExample(route: Route, baseUrl: string): string {
  const path = route.path.replace(/:(\w+)/g, (_, name: string) => (name === "tenantId" ? "demo" : `{${name}}`));
  const body = route.body && exampleBody(route);
  const words = [
    `curl ${route.method === "GET" ? "" : `-X ${route.method} `}${baseUrl}${path}`,
    ...(route.bearer === "required" ? ['-H "Authorization: Bearer $TOKEN"'] : []),
    ...(body ? bodyWords(route, body) : []),
  ];
  return words.join(" \\\n  ");
}

function bodyWords(route: Route, body: Record<string, unknown>): string[] {
  if (route.bodyType === "form") return Object.entries(body).map(([name, value]) => `-d '${name}=${value}'`);
  return ["-H 'Content-Type: application/json'", `-d '${JSON.stringify(body)}'`];
}

/** What must be sent; where nothing must, one of the things that can be. */
function exampleBody(route: Route): Record<string, unknown> {
  const { required = [] } = route.body as { required?: string[] };
  const all = Object.entries(exampleOf(route.body as NonNullable<Route["body"]>) as Record<string, unknown>);
  const needed = all.filter(([name]) => required.includes(name));
  return Object.fromEntries(needed.length > 0 ? needed : all.slice(0, 1));
}
