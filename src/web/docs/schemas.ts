import type { ResponseObject, ApiDocument, Schema } from '../api/openapi.ts'

/** Returns the name of the schema that a reference points to. */
export const refName = (reference: string): string => reference.slice(reference.lastIndexOf('/') + 1)

/** Returns the schema itself, or the one it refers to. */
export function resolveSchema(document: ApiDocument, schema: Schema): Schema {
  if (schema.$ref === undefined) return schema
  return document.components.schemas[refName(schema.$ref)] ?? {}
}

export const resolveResponse = (document: ApiDocument, response: ResponseObject): ResponseObject =>
  response.$ref === undefined ? response : (document.components.responses[refName(response.$ref)] ?? {})

/** Returns the alternatives of a schema, without those that are only other spellings of a value. */
export const alternativesOf = (schema: Schema): Schema[] =>
  (schema.anyOf ?? schema.oneOf ?? schema.allOf ?? []).filter(({ $comment }) => $comment !== 'Also accepted.')

/** Returns the type of a value in TypeScript notation: `string | null`, `client.backup[]`. */
export function typeOf(schema: Schema): string {
  if (schema.$ref !== undefined) return refName(schema.$ref)
  if ('const' in schema) return JSON.stringify(schema.const)
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  const alternatives = alternativesOf(schema)
  if (alternatives.length > 0) {
    return [...new Set(alternatives.map(typeOf))].join(schema.allOf ? ' & ' : ' | ')
  }
  return [schema.type ?? []]
    .flat()
    .map((type) => (type === 'array' && schema.items ? arrayTypeOf(typeOf(schema.items)) : type))
    .join(' | ')
    .concat(schema.type === undefined ? 'any' : '')
}

const arrayTypeOf = (type: string) => (/[ ]/.test(type) ? `(${type})[]` : `${type}[]`)

const constraintNames = [
  'format',
  'minimum',
  'exclusiveMinimum',
  'maximum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'uniqueItems',
  'pattern',
  'default',
] as const

/**
 * Returns the constraints of a value as the document writes them: `maxLength: 191`. Leaves out the bounds of safe
 * integers.
 */
export function constraintsOf(schema: Schema): string[] {
  const constraints = constraintNames
    .filter(
      (name) => schema[name] !== undefined && Math.abs(Number(schema[name])) !== Number.MAX_SAFE_INTEGER,
    )
    .map((name) => {
      const value = schema[name]
      return `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`
    })
  return [...constraints, ...alternativesOf(schema).flatMap(constraintsOf)]
}

export type Member = { name: string; schema: Schema; isRequired: boolean }

/** Returns the members of an object or of the items of a list, or the alternatives that have members. */
export function membersOf(schema: Schema): Member[] {
  if (schema.properties) {
    return Object.entries(schema.properties).map(([name, member]) => ({
      name,
      schema: member,
      isRequired: schema.required?.includes(name) ?? false,
    }))
  }
  if (typeof schema.additionalProperties === 'object') {
    return [{ name: '*', schema: schema.additionalProperties, isRequired: false }]
  }
  if (schema.items) return schema.items.$ref ? [entryOf(schema.items)] : membersOf(schema.items)
  const withMembers = alternativesOf(schema).filter(hasMembers)
  const [only] = withMembers
  if (only && withMembers.length === 1) return only.$ref ? [entryOf(only)] : membersOf(only)
  return withMembers.map(entryOf)
}

const entryOf = (schema: Schema): Member => ({ name: typeOf(schema), schema, isRequired: false })

/** Whether a schema has members to show. */
export const hasMembers = (schema: Schema): boolean =>
  schema.$ref !== undefined || membersOf(schema).length > 0
