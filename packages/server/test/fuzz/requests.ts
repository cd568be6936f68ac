import { type Route, routes } from "@fieldgate/contract";
import fc from "fast-check";
import type { RawRequest } from "../tenants/raw-request.ts";
import { anyValue, headerText, hostileTexts } from "./hostile-values.ts";

/** Things of a real person, so that some requests get past the first check. */
export interface Spoils {
  readonly token: string;
  readonly refreshToken: string;
  readonly deviceToken: string;
  readonly username: string;
  readonly password: string;
  readonly tenantId: string;
}

interface Property {
  readonly type?: string;
  readonly enum?: readonly string[];
}

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, Property>>;
  readonly anyOf?: readonly ObjectSchema[];
}

export const allRoutes: readonly Route[] = Object.values<Route>(routes);

function propertiesOf(schema: ObjectSchema): Record<string, Property> {
  const inner = (schema.anyOf ?? []).map(propertiesOf);
  return Object.assign({}, ...inner, schema.properties);
}

/** A good value of a field, as far as its name and its schema tell. */
function goodValue(name: string, property: Property, spoils: Spoils): fc.Arbitrary<unknown> {
  if (property.enum) return fc.constantFrom(...property.enum);
  if (name in spoils) return fc.constantFrom<unknown>(spoils[name as keyof Spoils], "demo", "nobody");
  if (property.type === "boolean") return fc.boolean();
  if (property.type === "integer" || property.type === "number") return fc.integer({ min: 0, max: 3000 });
  const known: Record<string, readonly string[]> = {
    recipient: ["+254700000001", "amina@example.org"],
    code: ["000000", "123456"],
    dateOfBirth: ["1990-01-31", "1990"],
    idNumber: ["12345678", "AB 12 34"],
    refreshTokenHash: ["A".repeat(43), "0".repeat(64)],
  };
  return fc.constantFrom(...(known[name] ?? ["x", "A".repeat(43), spoils.token]));
}

type Entry = readonly [name: string, value: unknown];

/** JSON text of entries as they are: a name may be there twice, or be `__proto__`. */
const objectText = (entries: readonly Entry[]) =>
  `{${entries.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(",")}}`;

function objectBody(route: Route, spoils: Spoils): fc.Arbitrary<string> {
  const properties = propertiesOf((route.body ?? {}) as ObjectSchema);
  const names = Object.keys(properties);
  const field = (name: string): fc.Arbitrary<Entry[]> => {
    const good = goodValue(name, properties[name] ?? {}, spoils);
    const alias = Object.entries(route.aliases ?? {}).find(([, canonical]) => canonical === name)?.[0] ?? name;
    return fc.oneof(
      { weight: 12, arbitrary: good.map((value): Entry[] => [[name, value]]) },
      { weight: 1, arbitrary: good.map((value): Entry[] => [[alias, value]]) },
      {
        weight: 1,
        arbitrary: good.map((value): Entry[] => [
          [alias, value],
          [name, value],
        ]),
      },
      { weight: 3, arbitrary: anyValue.map((value): Entry[] => [[name, value]]) },
      { weight: 3, arbitrary: fc.constant<Entry[]>([]) },
    );
  };
  const extraName = fc.oneof(
    fc.constantFrom("__proto__", "constructor", "toString", "x", ...names, ...Object.keys(route.aliases ?? {})),
    fc.string(),
  );
  const extra = fc.oneof(
    { weight: 6, arbitrary: fc.constant<Entry[]>([]) },
    { weight: 1, arbitrary: fc.tuple(extraName, anyValue).map((entry): Entry[] => [entry]) },
  );
  return fc.tuple(...names.map(field), extra).map((entries) => objectText(entries.flat()));
}

/** What is no object of fields: other JSON, broken JSON, bytes. */
const otherBody: fc.Arbitrary<string | Uint8Array> = fc.oneof(
  anyValue.map((value) => JSON.stringify(value) ?? ""),
  fc.constantFrom("", "{", "}", "[", '{"a":1', '{"a":1}x', "\ufeff{}", "{'a':1}", "{}{}", "NaN", "[".repeat(9000)),
  fc.constantFrom(`{"username":"${"x".repeat(17_000)}"}`, `${"{".repeat(3)}`, '{"\\ud800":1}', '{"a":"\\ud800"}'),
  fc.uint8Array({ maxLength: 200 }),
);

const types = ["application/json", "application/json; charset=utf-8", "APPLICATION/JSON", "application/json;"];
const formTypes = ["application/x-www-form-urlencoded", "application/json"];
const oddTypes = [
  "text/plain",
  "application/jsonx",
  "application/json; charset=utf-16",
  "multipart/form-data",
  "a",
  "",
];

function headers(spoils: Spoils, route: Route): fc.Arbitrary<Record<string, string>> {
  const { token, deviceToken } = spoils;
  const oneOf = (...values: string[]) => fc.oneof(fc.constantFrom(...values), headerText);
  const known: Record<string, fc.Arbitrary<string>> = {
    authorization: oneOf(`Bearer ${token}`, `bearer  ${token}`, token, "Basic YTpi", "Bearer", "Bearer a.b.c"),
    "x-tenant-id": oneOf("demo", "demo", "other", "nowhere", "DEMO"),
    "x-device-token": oneOf(deviceToken, "a.b"),
    dpop: oneOf("e30.e30.e30", token, "eyJhbGciOiJub25lIiwidHlwIjoiZHBvcCtqd3QifQ.e30."),
    "content-encoding": oneOf("gzip", "identity"),
    "x-forwarded-for": oneOf("1.2.3.4", "::1, x", "999.1.1.1"),
    "x-forwarded-proto": oneOf("https", "ftp"),
    "x-request-id": headerText,
    origin: oneOf("null", "https://evil.example"),
    accept: oneOf("text/html", "*/*;q=0"),
    range: oneOf("bytes=0-"),
    "if-none-match": oneOf("*"),
    "access-control-request-method": oneOf("PUT"),
    cookie: headerText,
    expect: fc.constantFrom("100-continue", "the-unexpected"),
    te: oneOf("trailers"),
  };
  const one = fc
    .constantFrom(...Object.keys(known))
    .chain((name) => (known[name] ?? headerText).map((value) => [name, value]));
  const few = fc.array(one, { maxLength: 2 }).map((entries) => Object.fromEntries(entries) as Record<string, string>);
  if (route.bearer === undefined) return few;
  const bearer = fc.constantFrom({ authorization: `Bearer ${token}` }, {});
  return fc.tuple(bearer, few).map(([first, more]) => ({ ...first, ...more }));
}

const methods = ["GET", "POST", "HEAD", "OPTIONS", "PUT", "PATCH", "DELETE", "PROPFIND", "TRACE"];

const pathText = fc.oneof(
  fc.constantFrom("demo", "nowhere", "..", ".", "%2e%2e", "%00", "%", "a%2Fb", "x".repeat(200), "%F0%9F%94%91"),
  fc.constantFrom(...hostileTexts).map((text) => encodeURIComponent(text.toWellFormed())),
);

function path(route: Route): fc.Arbitrary<string> {
  const plain = pathText.map((id) => route.path.replace(/:\w+/, id));
  return fc.oneof(
    { weight: 40, arbitrary: plain },
    { weight: 1, arbitrary: plain.map((text) => `${text}/`) },
    { weight: 1, arbitrary: plain.map((text) => text.toUpperCase()) },
    { weight: 1, arbitrary: fc.tuple(plain, pathText).map(([text, more]) => `${text}/${more}`) },
    { weight: 1, arbitrary: fc.tuple(plain, pathText).map(([text, query]) => `${text}?${query}=1&x`) },
    { weight: 1, arbitrary: plain.map((text) => `/${text}`) },
    { weight: 1, arbitrary: plain.map((text) => text.replace("/", "/./")) },
  );
}

/** A request that some route might answer, with anything about it changed. */
export function anyRequest(spoilsFor: (route: Route) => Spoils): fc.Arbitrary<RawRequest> {
  // Routes with a body have more to go wrong.
  const choices = allRoutes.flatMap((route) => (route.body ? [route, route, route] : [route]));
  return fc.constantFrom(...choices).chain((route) => {
    const spoils = spoilsFor(route);
    return fc
      .record({
        method: fc.oneof(
          { weight: 15, arbitrary: fc.constant<string>(route.method) },
          { weight: 1, arbitrary: fc.constantFrom(...methods) },
        ),
        path: path(route),
        headers: headers(spoils, route),
        type: fc.oneof(
          { weight: 20, arbitrary: fc.constantFrom(...(route.bodyType === "form" ? formTypes : types)) },
          { weight: 1, arbitrary: fc.constantFrom(...oddTypes) },
        ),
        body: route.body
          ? fc.oneof(
              { weight: 8, arbitrary: objectBody(route, spoils) },
              { weight: 2, arbitrary: otherBody },
              { weight: 1, arbitrary: fc.constant(undefined) },
            )
          : fc.oneof({ weight: 8, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: otherBody }),
      })
      .map(({ type, body, headers: given, ...request }) => ({
        ...request,
        headers: body === undefined ? given : { "content-type": type, ...given },
        ...(body !== undefined && { body }),
      }));
  });
}
