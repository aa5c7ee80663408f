import * as fc from 'fast-check'
import type { JsonSchema } from '../../src/http/json-schema.ts'
import { alternativesOf, propertiesOf, requiredOf } from '../../src/http/json-schema.ts'
import { known } from '../support/factories.ts'

/** Texts of formats, and of names whose rules JSON Schema does not express. */
const samples: Record<string, string> = {
  uuid: '6f1d7f38-6d0a-4bb9-8a3c-7a54a31a6a11',
  email: 'user@example.test',
  uri: 'https://example.test/file',
  'date-time': '2036-01-01T00:00:00Z',
  date: '2026-01-01',
  current_password: known.password,
  docker_image: 'node:24-alpine',
  image: 'node:24-alpine',
  script_container: 'node:24-alpine',
  fqdn: 'node.example.test',
  host: 'db.example.test',
  timezone: 'Europe/Berlin',
  source: '/mnt/maps',
  target: '/home/container/maps',
}

/** Builds values that a schema accepts, as far as `propertiesOf` and other keywords of the document say. */
export function arbitraryOf(schema: JsonSchema, name = ''): fc.Arbitrary<unknown> {
  if ('const' in schema) return fc.constant(schema.const)
  if (Array.isArray(schema.enum)) return fc.constantFrom(...(schema.enum as unknown[]))
  const options = alternativesOf(schema)
  if (options.length > 1 || options[0] !== schema)
    return fc.oneof(...options.map((option) => arbitraryOf(option, name)))
  const types = [schema.type ?? []].flat() as string[]
  if (types.length > 1) return fc.oneof(...types.map((type) => arbitraryOf({ ...schema, type }, name)))
  switch (types[0]) {
    case 'object':
      return objectOf(schema)
    case 'array': {
      const bounds = { minLength: Number(schema.minItems ?? 0), maxLength: maxItemsOf(schema) }
      return fc.uniqueArray(arbitraryOf((schema.items ?? {}) as JsonSchema, name), {
        ...bounds,
        comparator: 'SameValue',
      })
    }
    case 'string':
      return textOf(schema, name)
    case 'integer':
    case 'number':
      return fc.integer({ min: Number(schema.minimum ?? -1000), max: Number(schema.maximum ?? 1000) })
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    default:
      return fc.constantFrom('text', 1, true, {}, [])
  }
}

const maxItemsOf = ({ minItems = 0, maxItems = 3 }: { minItems?: number; maxItems?: number }) =>
  Math.min(maxItems, Math.max(minItems, 3))

/** Optional members are there or not; those that need no name of their own have one of two. */
function objectOf(schema: JsonSchema): fc.Arbitrary<unknown> {
  const members = Object.entries(propertiesOf(schema)).map(
    ([name, member]) => [name, arbitraryOf(member, name)] as const,
  )
  const own = fc.record(Object.fromEntries(members), { requiredKeys: requiredOf(schema) as never[] })
  if (typeof schema.additionalProperties !== 'object') return own
  const names = fc.constantFrom('A_NAME', 'ANOTHER')
  const others = fc.dictionary(names, arbitraryOf(schema.additionalProperties as JsonSchema), { maxKeys: 2 })
  return fc.tuple(own, others).map(([some, more]) => ({ ...more, ...some }))
}

function textOf(schema: JsonSchema, name: string): fc.Arbitrary<string> {
  const sample = samples[String(schema.format)] ?? samples[name]
  const minimum = Number(schema.minLength ?? 0)
  if (sample !== undefined) return fc.constant(sample.padEnd(minimum, 'x'))
  const maximum = Math.min(Number(schema.maxLength ?? 40), Math.max(minimum, 40))
  const patterns = [schema, ...((schema.allOf ?? []) as JsonSchema[])].flatMap(
    ({ pattern }) => pattern ?? [],
  ) as string[]
  const fits = (text: string) => text.length >= minimum && text.length <= maximum
  const plain = fc.string({
    minLength: minimum,
    maxLength: maximum,
    unit: fc.constantFrom(...'abcXYZ0189'.split('')),
  })
  const matches = (text: string) => patterns.every((pattern) => new RegExp(pattern, 'u').test(text))
  const [first] = patterns
  if (first === undefined || first === '\\S' || /\\P|\(\?!/.test(first))
    return plain.map((text) => (text === '' ? 'x' : text)).filter(matches)
  return fc.stringMatching(new RegExp(first, 'u')).filter((text) => fits(text) && matches(text))
}

/** Lists the paths of the members of an input, also of nested ones and of the first item of lists. */
export function pathsOf(schema: JsonSchema, above: string[] = []): string[][] {
  return alternativesOf(schema).flatMap((option) => [
    ...Object.entries(propertiesOf(option)).flatMap(([name, member]) => [
      [...above, name],
      ...pathsOf(member, [...above, name]),
    ]),
    ...(option.items ? [[...above, '0'], ...pathsOf(option.items as JsonSchema, [...above, '0'])] : []),
    ...(typeof option.additionalProperties === 'object' ? [[...above, 'A_NAME']] : []),
  ])
}

/** Finds the schema of a member, to put values near its bounds. */
export function boundsAt(schema: JsonSchema, path: string[]): JsonSchema[] {
  const [name, ...rest] = path
  if (name === undefined) return alternativesOf(schema)
  return alternativesOf(schema).flatMap((option) => {
    const member = propertiesOf(option)[name] ?? (name === '0' ? option.items : option.additionalProperties)
    return typeof member === 'object' && member !== null ? boundsAt(member as JsonSchema, rest) : []
  })
}

/** Stands for a member that is left out. */
export const absent = Symbol('absent')

/** Lists values to put in place of a member: of every type, and at its bounds. */
export function substitutesFor(schemas: JsonSchema[]): unknown[] {
  const near = schemas.flatMap(({ minimum, maximum, minLength, maxLength, maxItems }) => [
    ...[minimum, maximum].flatMap((bound) => (bound === undefined ? [] : nearby(Number(bound)))),
    ...[minLength, maxLength].flatMap((length) =>
      length === undefined ? [] : [Number(length) - 1, Number(length), Number(length) + 1].flatMap(textsOf),
    ),
    ...(maxItems === undefined ? [] : [Array.from({ length: Number(maxItems) + 1 }, (_, at) => `item${at}`)]),
  ])
  const plain = [
    absent,
    null,
    '',
    '  ',
    'x',
    'No',
    'true',
    '1',
    '0',
    '-1',
    '1.5',
    '07',
    '1e3',
    'é\u0007',
    'a\nb',
  ]
  return [...plain, true, false, 0, 1, 2, -1, 1.5, 2 ** 31, {}, [], ['x'], [1], { x: 1 }, ...near]
}

const nearby = (bound: number) => [bound - 1, bound, bound + 1].flatMap((number) => [number, String(number)])
const textsOf = (length: number) => (length < 0 || length > 70_000 ? [] : ['x'.repeat(length)])

/** Puts a value at a path; creates what is missing above it. */
export function withValue(input: unknown, [name, ...rest]: string[], value: unknown): unknown {
  if (name === undefined) return value
  const isList = name === '0'
  const copy = (
    typeof input === 'object' && input !== null && Array.isArray(input) === isList
      ? structuredClone(input)
      : isList
        ? []
        : {}
  ) as Record<string, unknown>
  const member = withValue(copy[name], rest, value)
  if (member !== absent) copy[name] = member
  else if (isList) (copy as unknown as unknown[]).shift()
  else delete copy[name]
  return copy
}
