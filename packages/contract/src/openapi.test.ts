import { describe, expect, test } from "vitest";
import { errors } from "./errors.ts";
import { components, openApiDocument } from "./openapi.ts";
import type { Route } from "./route.ts";
import { errorsOf, routes } from "./routes.ts";

interface Answer {
  readonly description: string;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly content?: Readonly<Record<string, { readonly schema: unknown }>>;
}

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly tags: readonly string[];
  readonly security?: readonly object[];
  readonly parameters?: readonly { name: string; in: string; required: boolean; description: string; schema: object }[];
  readonly requestBody?: { required: boolean; content: Record<string, { schema: Record<string, unknown> }> };
  readonly responses: Readonly<Record<string, Answer>>;
}

interface Document {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string };
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>>; readonly securitySchemes: object };
}

const source = openApiDocument({ baseUrl: "https://auth.example.org", version: "1.2.3" });
const document = JSON.parse(JSON.stringify(source)) as Document;
const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
);

/** Every object of the document, wherever it lies. */
function* objectsOf(value: unknown): Generator<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) return;
  if (!Array.isArray(value)) yield value as Record<string, unknown>;
  for (const inner of Object.values(value)) yield* objectsOf(inner);
}

const references = [...objectsOf(document)].flatMap(({ $ref }) => (typeof $ref === "string" ? [$ref] : []));

describe("the document", () => {
  test("is OpenAPI 3.1 and says whose it is", () => {
    expect(document.openapi).toMatch(/^3\.1\.\d+$/);
    expect(document.info).toMatchObject({ title: "Fieldgate", version: "1.2.3" });
    expect(document.servers).toEqual([{ url: "https://auth.example.org" }]);
  });

  test("is plain JSON: nothing is lost when it is written down", () => {
    expect(document).toEqual(source);
  });

  test("has no reference that leads nowhere, and none in another form", () => {
    expect(references.length).toBeGreaterThan(10);
    for (const reference of references) {
      const name = /^#\/components\/schemas\/([A-Za-z0-9._-]+)$/.exec(reference)?.[1];
      expect(document.components.schemas, reference).toHaveProperty(String(name));
    }
    expect([...objectsOf(document)].filter((object) => "$id" in object)).toEqual([]);
  });

  test("has each component once, by its name", () => {
    const names = components.map(({ $id }) => $id);
    expect(new Set(names).size).toBe(names.length);
    expect(Object.keys(document.components.schemas)).toEqual(names);
  });

  test("uses its components: bodies and answers are referred to by name", () => {
    const inRoutes = Object.values<Route>(routes).flatMap((route) => [
      ...Object.values(route.response),
      route.body ?? null,
    ]);
    for (const component of inRoutes) if (component !== null) expect(components).toContain(component);
    const used = new Set(references.map((reference) => reference.split("/").at(-1)));
    const aliased = Object.values<Route>(routes).flatMap((route) =>
      route.aliases && route.body ? [route.body.$id] : [],
    );
    const inside = ["AccessTokenClaims", "SyncEvent"];
    const unused = components.map(({ $id }) => $id).filter((name) => !used.has(name));
    // A body with aliases is written out, the claims travel inside the token, and events are judged one by one.
    expect(unused.toSorted()).toEqual([...new Set([...aliased, ...inside])].toSorted());
  });

  test("has the routes, all of them and no others", () => {
    const expected = Object.entries<Route>(routes).map(([name, { method, path }]) => [
      name,
      method.toLowerCase(),
      path.replace(/:(\w+)/g, "{$1}"),
    ]);
    const found = operations.map(({ path, method, operation }) => [operation.operationId, method, path]);
    expect(found.toSorted()).toEqual(expected.toSorted());
  });
});

describe.each(operations)("$method $path", ({ path, operation }) => {
  const route: Route = routes[operation.operationId as keyof typeof routes];

  test("lists every error the route may answer, each under its status", () => {
    for (const code of errorsOf(route)) {
      const answer = operation.responses[errors[code].status];
      expect(answer?.description).toContain(`\`${code}\`: ${errors[code].detail}`);
      const schema = answer?.content?.["application/problem+json"]?.schema;
      expect(JSON.stringify(schema)).toContain(`"${code}"`);
      expect(JSON.stringify(schema)).toContain("#/components/schemas/Problem");
    }
    const statuses = new Set([
      ...Object.keys(route.response),
      ...errorsOf(route).map((code) => String(errors[code].status)),
    ]);
    expect(Object.keys(operation.responses).toSorted()).toEqual([...statuses].toSorted());
  });

  test("says Retry-After where it is sent", () => {
    for (const [status, { headers }] of Object.entries(operation.responses)) {
      expect(headers !== undefined && "Retry-After" in headers, status).toBe(status === "429" || status === "503");
    }
  });

  test("answers its success by its component", () => {
    for (const [status, component] of Object.entries(route.response)) {
      const { content } = operation.responses[status] as Answer;
      const schema = content?.["application/json"]?.schema;
      expect(schema).toEqual(component ? { $ref: `#/components/schemas/${component.$id}` } : undefined);
    }
  });

  test("declares the parameters of its path, its headers and its security", () => {
    const parameters = operation.parameters ?? [];
    const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    expect(parameters.filter((one) => one.in === "path").map(({ name }) => name)).toEqual(inPath);
    expect(parameters.filter((one) => one.in === "path").every(({ required }) => required)).toBe(true);
    const headers = parameters.filter((one) => one.in === "header").map(({ name }) => name);
    expect(headers).toEqual(Object.keys(route.headers ?? {}));
    // Authorization is told by `security`: OpenAPI ignores it as a parameter.
    expect(headers.map((name) => name.toLowerCase())).not.toContain("authorization");
    expect(operation.security !== undefined).toBe(route.bearer !== undefined);
    expect(operation.tags).toEqual([route.tag]);
  });

  test("takes the body of the route, with its aliases", () => {
    expect(operation.requestBody?.required).toBe(route.body ? !route.bodyOptional : undefined);
    const mediaType = route.bodyType === "form" ? "application/x-www-form-urlencoded" : "application/json";
    const schema = operation.requestBody?.content[mediaType]?.schema;
    if (route.body === undefined) expect(schema).toBeUndefined();
    else if (route.aliases === undefined) expect(schema).toEqual({ $ref: `#/components/schemas/${route.body.$id}` });
    else {
      for (const [alias, canonical] of Object.entries(route.aliases)) {
        expect(schema?.properties).toHaveProperty(alias);
        expect(schema?.properties).toHaveProperty(canonical);
        expect(schema?.required).not.toContain(canonical);
      }
      expect(schema?.additionalProperties).toBe(false);
    }
  });
});
