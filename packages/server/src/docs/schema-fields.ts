import { type Component, components } from "@fieldgate/contract";

/** The parts of a JSON schema that our components use. */
interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly const?: unknown;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

/** One row of a table of fields. */
export interface Field {
  /** With the path to it: `adapters[].type`. */
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
  readonly notes: readonly string[];
}

/** The fields of an object and of what lies inside it, in their order. */
export function fieldsOf(component: Component): Field[] {
  return collect(component as Schema, "");
}

/** An example of a value, told by its name and kind. */
export function exampleOf(component: Component): unknown {
  return example(component as Schema, "");
}

function collect(schema: Schema, prefix: string): Field[] {
  const { properties = {}, required = [] } = resolve(schema);
  return Object.entries(properties).flatMap(([key, property]) => {
    const name = `${prefix}${key}`;
    const inner = resolve(property);
    const field = { name, type: typeOf(inner), required: required.includes(key), notes: notesOf(inner) };
    const below = inner.items ? collect(inner.items, `${name}[].`) : collect(inner, `${name}.`);
    return [field, ...below];
  });
}

function resolve(schema: Schema): Schema {
  if (schema.$ref === undefined) return schema;
  const name = schema.$ref.replace(/#$/, "");
  const found = components.find(({ $id }) => $id === name);
  if (found === undefined) throw new Error(`No component is named ${name}.`);
  return found as Schema;
}

function typeOf(schema: Schema): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (schema.items) return `${typeOf(resolve(schema.items))}[]`;
  return schema.type ?? "any";
}

function notesOf({ description, minLength, maxLength, pattern }: Schema): string[] {
  return [
    ...(description === undefined ? [] : [description]),
    ...(maxLength === undefined ? [] : [`${minLength ?? 0} to ${maxLength} characters.`]),
    ...(pattern === undefined ? [] : [`Matches \`${pattern}\`.`]),
  ];
}

const examples: Readonly<Record<string, unknown>> = {
  username: "amina",
  recipient: "+254700000001",
  code: "042137",
  idNumber: "AB-1234-567",
  dateOfBirth: "1987-05-23",
  entityId: "0198c2f4-7a90-7d11-8b0e-52f4c1d7e9a3",
  label: "Amina",
  selectionToken: "s4Tf…",
  challenge: "c8Lm…",
  birthYear: 1987,
  userId: "0198c2f4-6b1e-7c3a-9d52-3f0a8be6c417",
  subject: "0198c2f4-6b1e-7c3a-9d52-3f0a8be6c417",
  password: "walnut-harbour-seventeen",
  tenantId: "demo",
  token: "eyJhbGciOiJFUzI1NiIs…",
  refreshToken: "k3Jx…",
  refreshTokenHash: "47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU",
  deviceToken: "d9Qe…",
  expiresIn: 600,
  refreshExpiresIn: 1_209_600,
  provider: "password",
  scope: "field-work",
  name: "Demo programme",
  defaultCountry: "KE",
  fields: { serverUrl: "https://auth.example.org" },
  type: "otp",
  roles: ["field-worker"],
};

function example(schema: Schema, name: string): unknown {
  const { const: constant, enum: choices, items, properties, type } = resolve(schema);
  if (constant !== undefined) return constant;
  if (name in examples) return examples[name];
  if (choices) return choices[0];
  if (items) return [example(items, "")];
  if (properties) {
    return Object.fromEntries(Object.entries(properties).map(([key, inner]) => [key, example(inner, key)]));
  }
  return type === "integer" || type === "number" ? 1 : "…";
}
