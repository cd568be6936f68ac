import {
  CitizenSession,
  IdVerifyRequest,
  OtpRequest,
  OtpSent,
  OtpVerifyRequest,
  QrVerifyRequest,
  SelectionChoice,
} from "./citizen.ts";
import { DeliveryReceipt } from "./delivery.ts";
import { type ErrorCode, errors } from "./errors.ts";
import { BackchannelLogoutRequest, OidcExchangeRequest } from "./oidc.ts";
import { Problem } from "./problem.ts";
import type { Route } from "./route.ts";
import { errorsOf, routes } from "./routes.ts";
import type { Component } from "./schema.ts";
import { Health, JsonWebKeySet } from "./service.ts";
import { LoginRequest, LogoutRequest, OwnSession, OwnSessions, RefreshRequest, Session } from "./session.ts";
import {
  PulledEvent,
  PushResult,
  SyncEvent,
  SyncPullResponse,
  SyncPushRequest,
  SyncPushResponse,
  VaultKey,
} from "./sync.ts";
import { AdapterConfig, AuthConfig } from "./tenant.ts";
import { AccessTokenClaims, CheckTokenRequest, TokenVerdict } from "./token.ts";
import { CurrentUser } from "./user.ts";

/** Every named schema: a component of the document, and of the server's validator. */
export const components: readonly Component[] = [
  SelectionChoice,
  Problem,
  LoginRequest,
  RefreshRequest,
  LogoutRequest,
  Session,
  OwnSession,
  OwnSessions,
  OidcExchangeRequest,
  BackchannelLogoutRequest,
  OtpRequest,
  OtpSent,
  OtpVerifyRequest,
  IdVerifyRequest,
  QrVerifyRequest,
  CitizenSession,
  CheckTokenRequest,
  TokenVerdict,
  AccessTokenClaims,
  CurrentUser,
  VaultKey,
  SyncEvent,
  SyncPushRequest,
  PushResult,
  SyncPushResponse,
  PulledEvent,
  SyncPullResponse,
  AdapterConfig,
  AuthConfig,
  DeliveryReceipt,
  Health,
  JsonWebKeySet,
];

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
type JsonObject = { [key: string]: Json };

const componentRef = (name: string): JsonObject => ({ $ref: `#/components/schemas/${name}` });

/** Turns `$ref: "Name#"` into the document's own address, and drops `$id`. */
function toDocument(value: Json): Json {
  if (Array.isArray(value)) return value.map(toDocument);
  if (value === null || typeof value !== "object") return value;
  const entries = Object.entries(value).filter(([key]) => key !== "$id");
  return Object.fromEntries(
    entries.map(([key, inner]) =>
      key === "$ref" && typeof inner === "string"
        ? [key, `#/components/schemas/${inner.replace(/#$/, "")}`]
        : [key, toDocument(inner)],
    ),
  );
}

/** A component as JSON: TypeBox keeps its own marks under symbols and hidden keys, which JSON leaves out. */
const plain = (schema: Component): JsonObject => toDocument(JSON.parse(JSON.stringify(schema))) as JsonObject;

/** The body of a route as the wire sees it: each alias may stand in for its canonical field. */
function bodySchema(route: Route & { body: Component }): JsonObject {
  const aliases = Object.entries(route.aliases ?? {});
  if (aliases.length === 0) return componentRef(route.body.$id);
  const schema = plain(route.body) as { properties: JsonObject; required?: string[] } & JsonObject;
  const properties = { ...schema.properties };
  for (const [alias, canonical] of aliases) {
    properties[alias] = { ...(properties[canonical] as JsonObject), description: `Another name for ${canonical}.` };
  }
  const aliased = new Set(aliases.map(([, canonical]) => canonical));
  return {
    ...schema,
    properties,
    required: (schema.required ?? []).filter((field) => !aliased.has(field)),
    allOf: aliases
      .filter(([, canonical]) => schema.required?.includes(canonical))
      .map(([alias, canonical]) => ({ anyOf: [{ required: [canonical] }, { required: [alias] }] })),
  };
}

function bodyContent(route: Route & { body: Component }): JsonObject {
  const content = { schema: bodySchema(route) };
  return {
    ...(route.bodyType !== "form" && { "application/json": content }),
    ...((route.foreignBody || route.bodyType === "form") && { "application/x-www-form-urlencoded": content }),
  };
}

function errorResponses(route: Route): JsonObject {
  const byStatus = Map.groupBy(errorsOf(route), (code: ErrorCode) => errors[code].status);
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      String(status),
      {
        description: codes.map((code) => `\`${code}\`: ${errors[code].detail}`).join("\n\n"),
        ...((status === 429 || status === 503) && {
          headers: { "Retry-After": { description: "Seconds to wait.", schema: { type: "integer" } } },
        }),
        content: {
          "application/problem+json": {
            schema: { allOf: [componentRef(Problem.$id), { properties: { code: { enum: codes } } }] },
          },
        },
      },
    ]),
  );
}

function operation(name: string, route: Route): JsonObject {
  const parameters: Json[] = [
    ...Object.entries(route.params ?? {}).map(([key, description]) => ({
      name: key,
      in: "path",
      required: true,
      description,
      schema: { type: "string" },
    })),
    ...Object.entries(route.query ?? {}).map(([key, description]) => ({
      name: key,
      in: "query",
      required: false,
      description,
      schema: { type: "string" },
    })),
    ...Object.entries(route.headers ?? {}).map(([key, { description }]) => ({
      name: key,
      in: "header",
      required: false,
      description,
      schema: { type: "string" },
    })),
  ];
  const success = Object.entries(route.response).map(([status, schema]) => [
    status,
    {
      description: schema ? "Done." : "Done; there is nothing to say.",
      ...(schema && { content: { "application/json": { schema: componentRef(schema.$id) } } }),
    },
  ]);
  return {
    operationId: name,
    summary: route.summary,
    ...(route.description && { description: route.description }),
    tags: [route.tag],
    ...(route.bearer && { security: route.bearer === "optional" ? [{ bearer: [] }, {}] : [{ bearer: [] }] }),
    ...(parameters.length > 0 && { parameters }),
    ...(route.body && {
      requestBody: {
        required: !route.bodyOptional,
        content: bodyContent(route as Route & { body: Component }),
      },
    }),
    responses: { ...Object.fromEntries(success), ...errorResponses(route) },
  };
}

/** The OpenAPI 3.1 document of the routes that exist. */
export function openApiDocument(service: { readonly baseUrl: string; readonly version: string }): JsonObject {
  const paths: Record<string, JsonObject> = {};
  for (const [name, route] of Object.entries<Route>(routes)) {
    const path = route.path.replace(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(name, route) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Fieldgate",
      version: service.version,
      description: "Signs in field workers and citizens, and gives each a token that later calls use.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: service.baseUrl }],
    paths,
    components: {
      securitySchemes: { bearer: { type: "http", scheme: "bearer", bearerFormat: "JWT" } },
      schemas: Object.fromEntries(components.map((schema) => [schema.$id, plain(schema)])),
    },
  };
}
