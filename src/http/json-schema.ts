import * as z from 'zod'

/** A JSON Schema, or a part of one, as plain data. */
export type JsonSchema = { [keyword: string]: unknown }

/** Which side of a schema is described: what is taken, or what is given. */
export type Side = 'input' | 'output'

/**
 * The schema as JSON Schema 2020-12. Of preprocessed values the inner schema is shown, of what JSON Schema
 * cannot say, nothing: `{}` allows everything.
 */
export function jsonSchemaOf(schema: z.ZodType, side: Side): JsonSchema {
  const { $schema: _, ...described } = z.toJSONSchema(schema, {
    io: side,
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => refine(zodSchema, jsonSchema as JsonSchema, side),
  })
  return described as JsonSchema
}

type Def = { type: string; in?: z.ZodType; out?: z.ZodType; catchall?: z.ZodType }

function refine(schema: z.core.$ZodType, described: JsonSchema, side: Side): void {
  const { def } = schema._zod as unknown as { def: Def }
  // `present` checks an unknown value before it hands it on: what comes after says more.
  if (side === 'input' && def.type === 'pipe' && def.in?._zod.def.type === 'unknown' && def.out) {
    Object.assign(described, jsonSchemaOf(def.out, side))
  }
  // Only strict objects promise that there is nothing else.
  if (def.type === 'object' && !def.catchall) delete described.additionalProperties
  if (described.minimum === Number.MIN_SAFE_INTEGER) delete described.minimum
  if (described.maximum === Number.MAX_SAFE_INTEGER) delete described.maximum
  const names = described.propertyNames as JsonSchema | undefined
  if (names?.type === 'string' && Object.keys(names).length === 1) delete described.propertyNames
}

/** The named members of an object schema; none of what is no object. */
export const propertiesOf = (schema: JsonSchema) => (schema.properties ?? {}) as Record<string, JsonSchema>

/** Names of the members that must be there. */
export const requiredOf = (schema: JsonSchema) => (schema.required ?? []) as string[]

/** The alternatives of a schema, itself where it has none. */
export const alternativesOf = (schema: JsonSchema): JsonSchema[] =>
  ((schema.anyOf ?? schema.oneOf) as JsonSchema[] | undefined)?.flatMap(alternativesOf) ?? [schema]

/** The JSON types that a schema takes; none when it takes them all. */
export const typesOf = (schema: JsonSchema): string[] => [
  ...new Set(alternativesOf(schema).flatMap(({ type }) => [type ?? []].flat() as string[])),
]

/**
 * The schema with every resource (`{ object: 'server', attributes: … }`) in it replaced by a reference to
 * the component of that name, which is added. A resource that differs from the component stays as it is.
 */
export function hoistResources(
  schema: JsonSchema,
  components: Record<string, JsonSchema>,
  nameOf: (resource: string) => string,
): JsonSchema {
  const hoisted = mapMembers(schema, (member) => hoistResources(member, components, nameOf))
  const resource = propertiesOf(hoisted).object?.const
  if (typeof resource !== 'string' || !propertiesOf(hoisted).attributes) return hoisted
  const name = nameOf(resource)
  components[name] ??= hoisted
  const isSame = JSON.stringify(components[name]) === JSON.stringify(hoisted)
  return isSame ? { $ref: `#/components/schemas/${name}` } : hoisted
}

function mapMembers(schema: JsonSchema, change: (member: JsonSchema) => JsonSchema): JsonSchema {
  const changed = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(changed)
    return typeof value === 'object' && value !== null ? change(value as JsonSchema) : value
  }
  return Object.fromEntries(Object.entries(schema).map(([keyword, value]) => [keyword, changed(value)]))
}
