import { integerPattern } from './integer-pattern.ts'
import type { JsonSchema } from './json-schema.ts'

/**
 * What a schema's metadata says about values that are converted before they are validated: further schemas that are
 * accepted, a schema in place of it, or `numbers`, which are accepted as text.
 */
export type Acceptance = {
  alsoAccepts?: JsonSchema[] | 'numbers as text'
  acceptedAs?: JsonSchema
  /** Other names of members: alias → name. */
  fieldAliases?: Readonly<Record<string, string>>
  preserveWhitespace?: boolean
}

/** The keywords of `Acceptance`, which are no keywords of JSON Schema. */
export const acceptanceKeywords = ['alsoAccepts', 'acceptedAs', 'fieldAliases', 'preserveWhitespace'] as const

/** Marks alternatives that are other spellings of a value: readers of the document can leave them out. */
export const alsoAcceptedComment = 'Also accepted.'
const marked = (schema: JsonSchema): JsonSchema => ({ ...schema, $comment: alsoAcceptedComment })

type Texts = 'exact' | 'untrimmed' | 'trimmed'

/**
 * Describes everything that an input may be from a schema with `Acceptance`: numbers and booleans as text, blank text
 * in place of null, and no blank text where a text is needed. `isExact` takes texts as they were sent.
 * Spec: docs/api.md#input.
 */
export const describeAccepted = (schema: JsonSchema, isExact: boolean): JsonSchema =>
  accepted(schema, isExact ? 'exact' : 'trimmed')

function accepted(schema: JsonSchema & Acceptance, inherited: Texts): JsonSchema {
  const { alsoAccepts, acceptedAs, fieldAliases, preserveWhitespace, ...plain } = schema
  if (acceptedAs) return { ...acceptedAs, ...(plain.description ? { description: plain.description } : {}) }
  const texts = preserveWhitespace && inherited === 'trimmed' ? 'untrimmed' : inherited
  const described = withBlankForNull(withoutBlankText(acceptedMembers(plain, texts), texts), texts)
  const named = fieldAliases ? withAliases(described, fieldAliases) : described
  const further = alsoAccepts === 'numbers as text' ? [numberAsText(plain)] : (alsoAccepts ?? [])
  return further.length === 0
    ? named
    : { anyOf: [...(alternatives(named) ?? [named]), ...further.map(marked)] }
}

/** Returns the alternatives of a schema that says nothing else. */
const alternatives = (schema: JsonSchema) =>
  Object.keys(schema).length === 1 ? (schema.anyOf as JsonSchema[] | undefined) : undefined

const numberAsText = ({ minimum, maximum }: JsonSchema): JsonSchema => ({
  type: 'string',
  pattern: integerPattern(Number(minimum), Number(maximum)),
})

/** Describes the schemas below a schema. Null beside a text with blanks is the empty text only. */
function acceptedMembers(schema: JsonSchema, texts: Texts): JsonSchema {
  const below = (value: unknown, rule = texts) => accepted(value as JsonSchema, rule)
  const described = { ...schema }
  for (const keyword of ['anyOf', 'oneOf', 'allOf']) {
    const list = schema[keyword] as (JsonSchema & Acceptance)[] | undefined
    const isUntrimmed = texts === 'trimmed' && list?.some((each) => each.preserveWhitespace)
    if (!list) continue
    const members = list.map((each) => below(each, isUntrimmed ? 'untrimmed' : texts))
    described[keyword] =
      keyword === 'anyOf' ? members.flatMap((each) => alternatives(each) ?? [each]) : members
  }
  for (const keyword of ['items', 'additionalProperties']) {
    if (typeof schema[keyword] === 'object') described[keyword] = below(schema[keyword])
  }
  if (schema.properties) {
    described.properties = Object.fromEntries(
      Object.entries(schema.properties).map(([name, member]) => [name, below(member)]),
    )
  }
  return described
}

/** Text that counts as null. */
const blankText = (texts: Texts): JsonSchema =>
  marked(texts === 'untrimmed' ? { const: '' } : { type: 'string', pattern: '^\\s*$' })

function withBlankForNull(schema: JsonSchema, texts: Texts): JsonSchema {
  const types = [schema.type ?? []].flat() as string[]
  if (texts === 'exact' || !types.includes('null')) return schema
  const others = types.filter((type) => type !== 'null')
  const blank = [{ type: 'null' }, blankText(texts)]
  if (others.length === 0) return { anyOf: blank }
  const { description, ...rest } = schema
  const [type = '', ...more] = others
  const value = withoutBlankText({ ...rest, type: more.length === 0 ? type : others }, texts)
  return { ...(description ? { description } : {}), anyOf: [value, ...blank] }
}

/** Excludes the text that counts as null from a text. */
function withoutBlankText(schema: JsonSchema, texts: Texts): JsonSchema {
  const isFixed = 'const' in schema || 'enum' in schema
  if (texts === 'exact' || schema.type !== 'string' || isFixed) return schema
  if (texts === 'untrimmed') return { ...schema, minLength: Math.max(1, Number(schema.minLength ?? 0)) }
  if (schema.pattern === undefined) return { ...schema, pattern: '\\S' }
  const takesBlank = ['', ' '].some((blank) => new RegExp(String(schema.pattern), 'u').test(blank))
  return takesBlank
    ? { ...schema, allOf: [...((schema.allOf ?? []) as JsonSchema[]), { pattern: '\\S' }] }
    : schema
}

/** Adds members under their other names; a required one is there under either. */
function withAliases(schema: JsonSchema, aliases: Readonly<Record<string, string>>): JsonSchema {
  const properties = schema.properties as Record<string, JsonSchema>
  const pairs = Object.entries(aliases).filter(([, name]) => Object.hasOwn(properties, name))
  const required = (schema.required ?? []) as string[]
  const either = pairs
    .filter(([, name]) => required.includes(name))
    .map(([alias, name]) => ({ anyOf: [{ required: [name] }, { required: [alias] }] }))
  return {
    ...schema,
    properties: {
      ...properties,
      ...Object.fromEntries(pairs.map(([alias, name]) => [alias, properties[name] ?? {}])),
    },
    required: required.filter((name) => !pairs.some(([, each]) => each === name)),
    ...(either.length > 0 ? { allOf: [...((schema.allOf ?? []) as JsonSchema[]), ...either] } : {}),
  }
}

/** Says that a body without members may be `null` or an empty list, where nothing in it is needed. */
export function withEmptyBody(schema: JsonSchema, requiresBody: boolean): JsonSchema {
  const required = (schema.required ?? []) as string[]
  if (schema.type !== 'object' || required.length > 0 || schema.allOf) return schema
  return { ...schema, type: ['object', 'array', ...(requiresBody ? [] : ['null'])], maxItems: 0 }
}
