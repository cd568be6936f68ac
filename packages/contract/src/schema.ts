import { type Static, type TSchema, Type } from "typebox";

export type { Static, TSchema };

/** A schema with a name: a component of the OpenAPI document, added once to the validator. */
export type Component<Name extends string = string, Schema extends TSchema = TSchema> = Schema & { readonly $id: Name };

export function component<const Name extends string, Schema extends TSchema>(
  $id: Name,
  schema: Schema,
): Component<Name, Schema> {
  return { ...schema, $id };
}

/** A reference to a component, typed as what it refers to. */
export function ref<Schema extends Component>(schema: Schema) {
  return Type.Unsafe<Static<Schema>>({ $ref: `${schema.$id}#` });
}

/** An object that names each of its fields and refuses all others. */
export function strictObject<const Properties extends Record<string, TSchema>>(
  properties: Properties,
  options: { description?: string } = {},
) {
  return Type.Object(properties, { ...options, additionalProperties: false });
}

export function literals<const Values extends readonly string[]>(values: Values, description?: string) {
  return Type.Unsafe<Values[number]>({ type: "string", enum: [...values], ...(description && { description }) });
}
