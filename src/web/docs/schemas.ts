import type { Answer, ApiDocument, Schema } from '../api/openapi.ts'

/** The last word of a reference: what it leads to is called so. */
export const nameIn = (reference: string): string => reference.slice(reference.lastIndexOf('/') + 1)

/** The schema, or the one that it refers to. */
export function resolved(document: ApiDocument, schema: Schema): Schema {
  if (schema.$ref === undefined) return schema
  return document.components.schemas[nameIn(schema.$ref)] ?? {}
}

export const resolvedAnswer = (document: ApiDocument, answer: Answer): Answer =>
  answer.$ref === undefined ? answer : (document.components.responses[nameIn(answer.$ref)] ?? {})

export const alternativesOf = (schema: Schema): Schema[] => schema.anyOf ?? schema.oneOf ?? schema.allOf ?? []

/** What a value is, as programmers write it: `string | null`, `client.backup[]`. */
export function typeOf(schema: Schema): string {
  if (schema.$ref !== undefined) return nameIn(schema.$ref)
  if ('const' in schema) return JSON.stringify(schema.const)
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  const alternatives = alternativesOf(schema)
  if (alternatives.length > 0) {
    return [...new Set(alternatives.map(typeOf))].join(schema.allOf ? ' & ' : ' | ')
  }
  return [schema.type ?? []]
    .flat()
    .map((type) => (type === 'array' && schema.items ? listOf(typeOf(schema.items)) : type))
    .join(' | ')
    .concat(schema.type === undefined ? 'any' : '')
}

const listOf = (type: string) => (/[ ]/.test(type) ? `(${type})[]` : `${type}[]`)

const limits = [
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

/** What else holds of a value, as the document spells it: `maxLength: 191`. Bounds of every safe number say nothing. */
export function limitsOf(schema: Schema): string[] {
  const own = limits
    .filter(
      (name) => schema[name] !== undefined && Math.abs(Number(schema[name])) !== Number.MAX_SAFE_INTEGER,
    )
    .map((name) => {
      const value = schema[name]
      return `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`
    })
  return [...own, ...alternativesOf(schema).flatMap(limitsOf)]
}

export type Member = { name: string; schema: Schema; isRequired: boolean }

/** What lies below a schema: members of an object, of a list's entries, or the alternatives which have such. */
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
  const deep = alternativesOf(schema).filter(isDeep)
  const [only] = deep
  if (only && deep.length === 1) return only.$ref ? [entryOf(only)] : membersOf(only)
  return deep.map(entryOf)
}

const entryOf = (schema: Schema): Member => ({ name: typeOf(schema), schema, isRequired: false })

/** Whether there is something below it to look at. */
export const isDeep = (schema: Schema): boolean => schema.$ref !== undefined || membersOf(schema).length > 0
