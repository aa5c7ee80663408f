import { findMetadata, type RouteRow } from '../../src/http/metadata.ts'
import {
  alternativesOf,
  type JsonSchema,
  jsonSchemaOf,
  propertiesOf,
  requiredOf,
  typesOf,
} from '../../src/http/json-schema.ts'
import { known } from '../support/factories.ts'

/** A member of a body, by its path; `0` is the first of a list. */
export type Field = { path: string[]; schema: JsonSchema; isRequired: boolean }

/** A value as JSON text, which can say more than values can. */
export type Garbage = { name: string; raw: string }

function inputOf(row: RouteRow, place: 'json' | 'query'): JsonSchema | null {
  const fact = row.metadata.find((candidate) => candidate.kind === 'input' && candidate.target === place)
  return fact?.kind === 'input' ? jsonSchemaOf(fact.schema(), 'input') : null
}

/** Returns the schema of the JSON body of a route; null when it takes none. */
export const bodySchemaOf = (row: RouteRow): JsonSchema | null => inputOf(row, 'json')

/** Returns the schema of the query of a route; null when it takes none. */
export const querySchemaOf = (row: RouteRow): JsonSchema | null => inputOf(row, 'query')

/** Returns the success status of a route. */
export const successOf = (row: RouteRow): number => findMetadata(row, 'returns')?.status ?? 0

const shapes = (schema: JsonSchema) =>
  alternativesOf(schema).flatMap((each) => [each, ...((each.allOf ?? []) as JsonSchema[])])

/** Lists every member of a body, also nested ones, and the first member of each list. */
export function fieldsOf(schema: JsonSchema, above: string[] = []): Field[] {
  return shapes(schema).flatMap((shape) => [
    ...Object.entries(propertiesOf(shape)).flatMap(([name, member]) => {
      const path = [...above, name]
      return [
        { path, schema: member, isRequired: requiredOf(shape).includes(name) },
        ...fieldsOf(member, path),
      ]
    }),
    ...below(shape.items, [...above, '0']),
    ...below(shape.additionalProperties, [...above, 'A_NAME']),
  ])
}

const below = (member: unknown, path: string[]): Field[] =>
  typeof member === 'object' && member !== null
    ? [{ path, schema: member as JsonSchema, isRequired: false }, ...fieldsOf(member as JsonSchema, path)]
    : []

/** Builds a valid body as JSON text; puts `raw` at `path`, valid or not. */
export function sampleText(schema: JsonSchema, path: string[] = [], raw: string | null = null): string {
  const body = JSON.stringify(sampleOf(schema, '', raw === null ? null : path))
  return raw === null ? body : body.replace(JSON.stringify(marker), () => raw)
}

const marker = '(here)'

const wellKnown: Record<string, string | number> = {
  current_password: known.password,
  authentication_code: '123456',
  email: 'user@example.test',
  default: 2,
  username: 'user',
  docker_image: 'node:24-alpine',
  image: 'node:24-alpine',
  fqdn: 'node.example.test',
  scheme: 'https',
  ip: '203.0.113.9',
  ports: '25565',
  remote: '%',
  database: 'stats',
  url: 'https://example.test/file',
  timestamp: '2026-01-01T00:00:00Z',
}

/** Optional members without which the others are invalid. */
const sentAnyway = ['allocation', 'default', 'authentication_code']

const byFormat: Record<string, string> = {
  uuid: '6f1d7f38-6d0a-4bb9-8a3c-7a54a31a6a11',
  email: 'user@example.test',
  uri: 'https://example.test/',
  ipv4: '203.0.113.9',
  'date-time': '2026-01-01T00:00:00Z',
}

/** Builds a value that the schema accepts; puts the marker at `path`. */
function sampleOf(schema: JsonSchema, name: string, path: string[] | null): unknown {
  if (path?.length === 0) return marker
  const [shape = schema] = shapes(schema).filter(({ type }) => type !== 'null')
  if ('const' in shape) return shape.const
  if (Array.isArray(shape.enum)) return shape.enum[0]
  const types = typesOf(shape)
  if (types.includes('object') || shapes(schema).some(hasMembers)) return sampleObject(schema, path)
  if (types.includes('array'))
    return [sampleOf((shape.items ?? {}) as JsonSchema, name, path?.slice(1) ?? null)]
  if (types.includes('boolean')) return true
  if (types.includes('integer') || types.includes('number'))
    return wellKnown[name] ?? Math.max(Number(shape.minimum ?? 1), 1)
  const text = byFormat[String(shape.format)] ?? wellKnown[name] ?? 'a'
  return String(text).padEnd(Number(shape.minLength ?? 0), 'a')
}

const hasMembers = (shape: JsonSchema) => Object.keys(propertiesOf(shape)).length > 0

function sampleObject(schema: JsonSchema, path: string[] | null): Record<string, unknown> {
  const [wanted, ...rest] = path ?? []
  const members: Record<string, unknown> = {}
  for (const shape of shapes(schema)) {
    for (const [name, member] of Object.entries(propertiesOf(shape))) {
      if (name === wanted) members[name] = sampleOf(member, name, rest)
      else if (requiredOf(shape).includes(name) || sentAnyway.includes(name))
        members[name] = sampleOf(member, name, null)
    }
    const other = shape.additionalProperties
    if (wanted !== undefined && !(wanted in members) && typeof other === 'object') {
      members[wanted] = sampleOf(other as JsonSchema, wanted, rest)
    }
  }
  return members
}

const deep = 20_000
const deepArray = '['.repeat(deep) + ']'.repeat(deep)
const deepObject = '{"a":'.repeat(deep) + '1' + '}'.repeat(deep)
const longText = JSON.stringify('x'.repeat(100_000))

/** Values that no member of any body accepts. */
export const hostile: Garbage[] = [
  { name: 'a deep list', raw: deepArray },
  { name: 'a deep object', raw: deepObject },
  { name: 'text with NUL', raw: '"a\\u0000b"' },
  { name: 'text with half a surrogate pair', raw: '"a\\ud800b"' },
  { name: 'an object with __proto__', raw: '{"__proto__":{"isAdmin":true}}' },
  { name: 'an object with constructor', raw: '{"constructor":{"prototype":{}}}' },
]

/** Lists values of types that the field does not accept. */
export function unfitFor({ schema, isRequired }: Field): Garbage[] {
  const types = typesOf(schema)
  if (types.length === 0) return []
  const lacks = (...names: string[]) => !names.some((name) => types.includes(name))
  const isScalar = lacks('array', 'object')
  return [
    ...(isScalar ? raws('[]', '["x"]', '[[]]', '{}', '{"x":1}', '{"0":1}') : []),
    ...(lacks('array') && !isScalar ? raws('["x"]', '[[]]') : []),
    ...(lacks('object') && !isScalar ? raws('{"x":1}') : []),
    ...(lacks('string', 'integer', 'number', 'boolean') ? raws('"x"', '7', 'true') : []),
    ...(lacks('string') ? [{ name: '100 KB of text', raw: longText }] : []),
    ...(lacks('null') && isRequired ? raws('null', '""', '"  "') : []),
  ]
}

const raws = (...texts: string[]): Garbage[] => texts.map((raw) => ({ name: raw, raw }))

/** Values that may be valid or not, but must not cause a failure. */
export const odd: Garbage[] = [
  { name: '100 KB of text', raw: longText },
  ...raws('null', '""', '1e309', '-1e309', '-1', '-0', '1.5', '2147483648', '9007199254740993', '1e21'),
  ...raws(
    '"1e309"',
    '"-1"',
    '"0x10"',
    '"2147483648"',
    '"\\u202e\\ufeff"',
    '"%00"',
    '"../../etc/passwd"',
    '"\'; --"',
  ),
]

/** Whole bodies that no route accepts. */
export const hostileBodies: Garbage[] = [
  ...raws('"x"', '7', 'true', '["x"]', '[[]]', '{', '{"a":1', 'x', '\u0000', '{"__proto__":{"a":1}}'),
  ...raws('{"constructor":1}', '{"a\\u0000":1}', '{"a\\ud800":1}'),
  { name: 'a deep list', raw: deepArray },
  { name: 'a deep object', raw: deepObject },
  { name: 'many members', raw: `{"a":[${Array.from({ length: 30_000 }, () => '1').join(',')}]}` },
]

/** Bodies without any member. */
export const emptyBodies: Garbage[] = raws('', '  ', '[]', 'null', '{}')
