import * as z from 'zod'
import { acceptanceKeywords } from './accepted-input.ts'

/** A JSON Schema, or a part of one, as plain data. */
export type JsonSchema = { [keyword: string]: unknown }

/**
 * Which side of a schema is described: the input that callers should send, that with what is said about further
 * accepted values (`Acceptance`), or what is returned.
 */
export type Side = 'input' | 'accepted' | 'output'

/**
 * Describes a schema as JSON Schema 2020-12. Preprocessed values show their inner schema; what JSON Schema cannot
 * express is `{}`, which allows everything.
 */
export function jsonSchemaOf(schema: z.ZodType, side: Side): JsonSchema {
  const { $schema: _, ...described } = z.toJSONSchema(schema, {
    io: side === 'output' ? 'output' : 'input',
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => adjustSchema(zodSchema, jsonSchema as JsonSchema, side),
  })
  return described as JsonSchema
}

type Def = { type: string; in?: z.ZodType; out?: z.ZodType; catchall?: z.ZodType }

function adjustSchema(schema: z.core.$ZodType, described: JsonSchema, side: Side): void {
  const { def } = schema._zod as unknown as { def: Def }
  // A check in front of another schema, as for a value that must be present: the schema after it says more.
  const first = def.in?._zod.def.type
  if (side !== 'output' && def.type === 'pipe' && (first === 'unknown' || first === 'string') && def.out) {
    Object.assign(described, jsonSchemaOf(def.out, side))
  }
  if (side !== 'accepted') for (const keyword of acceptanceKeywords) delete described[keyword]
  // Only strict objects exclude other members: by a catchall that accepts nothing.
  if (def.type === 'object' && !def.catchall) delete described.additionalProperties
  if (def.type === 'object' && def.catchall?._zod.def.type === 'custom')
    described.additionalProperties = false
  if (described.minimum === Number.MIN_SAFE_INTEGER) delete described.minimum
  if (described.maximum === Number.MAX_SAFE_INTEGER) delete described.maximum
  const names = described.propertyNames as JsonSchema | undefined
  if (names?.type === 'string' && Object.keys(names).length === 1) delete described.propertyNames
}

/** Returns the members of an object schema by name; none for other schemas. */
export const propertiesOf = (schema: JsonSchema) => (schema.properties ?? {}) as Record<string, JsonSchema>

/** Returns the names of the required members. */
export const requiredOf = (schema: JsonSchema) => (schema.required ?? []) as string[]

/** Returns the alternatives of a schema, or the schema itself without any. */
export const alternativesOf = (schema: JsonSchema): JsonSchema[] =>
  ((schema.anyOf ?? schema.oneOf) as JsonSchema[] | undefined)?.flatMap(alternativesOf) ?? [schema]

/** Returns the JSON types that a schema accepts; none when it accepts all. */
export const typesOf = (schema: JsonSchema): string[] => [
  ...new Set(alternativesOf(schema).flatMap(({ type }) => [type ?? []].flat() as string[])),
]

/**
 * Replaces every resource (`{ object: 'server', attributes: … }`) in a schema by a reference to the component of
 * that name, and adds missing components. A resource that differs from its component stays as it is.
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

function mapMembers(schema: JsonSchema, transform: (member: JsonSchema) => JsonSchema): JsonSchema {
  const mapValue = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(mapValue)
    return typeof value === 'object' && value !== null ? transform(value as JsonSchema) : value
  }
  return Object.fromEntries(Object.entries(schema).map(([keyword, value]) => [keyword, mapValue(value)]))
}
