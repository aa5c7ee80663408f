import { Ajv2020 } from 'ajv/dist/2020.js'
import * as fc from 'fast-check'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { apiInfo, listMountedRoutes } from '../../src/cli/api-info.ts'
import { servers, settings, transfers } from '../../src/db/schema.ts'
import type { JsonSchema } from '../../src/http/json-schema.ts'
import type { RouteRow } from '../../src/http/metadata.ts'
import { openApiDocument, openApiPath } from '../../src/http/openapi.ts'
import { setLogLevel } from '../../src/log.ts'
import { localCache } from '../../src/platform/local/cache.ts'
import type { Answer } from '../support/answers.ts'
import { generatedRuns, generatedSeed } from '../support/generated-runs.ts'
import { useWorld } from '../support/world.ts'
import { arbitraryOf, boundsAt, pathsOf, substitutesFor, withValue } from './document-inputs.ts'
import { createFixtures, entitledOptions, type Fixtures, pathOf, surfaceOf } from './fixtures.ts'

const world = useWorld()
beforeEach(() => setLogLevel('off'))
afterAll(() => setLogLevel('warn'))
const document = openApiDocument(listMountedRoutes(), apiInfo('https://panel.test'))
const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true })
const seed = generatedSeed().seed ?? Date.now()
/** Values in place of each member, and whole inputs of each operation. */
const runs = { substitutes: generatedRuns({ few: 2, all: 8 }), inputs: generatedRuns({ few: 2, all: 6 }) }

type Parameter = { name: string; in: string; required: boolean; schema: JsonSchema }
type Operation = {
  parameters: Parameter[]
  requestBody?: { content: Record<string, { schema: JsonSchema }> }
}

const operationOf = ({ method, path }: RouteRow) =>
  document.paths[openApiPath(path)]?.[method.toLowerCase()] as unknown as Operation
const bodySchemaOf = (row: RouteRow) => operationOf(row).requestBody?.content['application/json']?.schema
const nameOf = ({ method, path }: RouteRow) => `${method} ${path}`

/** Rules that JSON Schema expresses; others depend on other members or on what is stored. */
const shapeRules = new Set(
  'required string integer numeric boolean array min max size present prohibited'.split(' '),
)

/** What is needed only together with other members or stored values, which the document says in words. */
const conditional: Record<string, RegExp> = {
  'PATCH /api/application/database-hosts/:database_host': /^password:required$/,
  'POST /api/application/servers/bulk': /^(signal|node):required$/,
  'POST /api/application/servers': /^allocation\.default:required$/,
  'PATCH /api/application/servers/:server/build': /^(memory|swap|disk|io|cpu):required$/,
  'POST /api/application/users': /^role_id:prohibited$/,
  'PATCH /api/application/users/:user': /^role_id:prohibited$/,
  'POST /api/client/servers/:server/trash': /^root:max$/,
}

/** Whether the panel refused the input for its shape; `any` rule, or only those that a schema expresses. */
function isRefused({ status, body }: Answer, name: string, any: boolean): boolean {
  const errors = (body?.errors ?? []) as {
    code: string
    detail: string
    meta?: { source_field: string; rule: string }
  }[]
  if (status === 400)
    return errors.some(
      ({ code, detail }) =>
        /^Invalid(Sort|Filter)Query$/.test(code) || detail === 'The request body must be a JSON object.',
    )
  return (
    status === 422 &&
    errors.some(
      ({ meta }) =>
        any ||
        (shapeRules.has(meta?.rule ?? '') && !conditional[name]?.test(`${meta?.source_field}:${meta?.rule}`)),
    )
  )
}

/** Sends an input as if it were the first, to a server that is in no state. */
async function send(fixtures: Fixtures, row: RouteRow, query: string, raw?: string): Promise<Answer> {
  Object.assign(world.services, { cache: localCache(() => world.clock.now.getTime()) })
  const { db } = world.database
  await db.update(servers).set({ status: null })
  await db.update(transfers).set({ successful: false })
  await db.delete(settings)
  const path = `${pathOf(row, fixtures)}${query}`
  return world.request(row.method, path, await entitledOptions(world, row, fixtures, path, raw))
}

/** Draws values, the same ones on every machine unless another seed is asked for. */
const draw = <Value>(values: readonly Value[], count: number, at: number): Value[] =>
  values.length <= count
    ? [...values]
    : (fc.sample(fc.shuffledSubarray([...values], { minLength: count, maxLength: count }), {
        seed: seed + at,
        numRuns: 1,
      })[0] ?? [])

/** Lists generated inputs of a body: whole ones, and one with something else in place of each member. */
function bodiesOf(schema: JsonSchema): unknown[] {
  const whole = fc.sample(arbitraryOf(schema), { seed, numRuns: runs.inputs })
  const [base = {}] = whole.filter(
    (each) => typeof each === 'object' && each !== null && !Array.isArray(each),
  )
  const changed = pathsOf(schema).flatMap((path, at) =>
    draw(substitutesFor(boundsAt(schema, path)), runs.substitutes, at).map((value) =>
      withValue(base, path, value),
    ),
  )
  return [...whole, null, [], {}, ...changed]
}

/** Compares what the document says about an input with what the panel does. */
function disagreement(name: string, isValid: boolean, answer: Answer): string | null {
  if (answer.status >= 500 && !/Daemon|Database/.test(String(answer.body?.errors?.[0]?.code)))
    return 'a fault'
  if (isValid && isRefused(answer, name, false)) return 'the panel is stricter'
  return !isValid && !isRefused(answer, name, true) ? 'the document is stricter' : null
}

const rows = listMountedRoutes()
  .filter((row) => ['application', 'client'].includes(surfaceOf(row)))
  // What is deleted is there no more for the others.
  .toSorted((one, other) => Number(one.method === 'DELETE') - Number(other.method === 'DELETE'))

describe.each(['application', 'client'])('the OpenAPI document of the %s surface', (surface) => {
  const own = rows.filter((row) => surfaceOf(row) === surface)

  it('accepts the bodies that the panel accepts, and no others', async () => {
    const fixtures = await createFixtures(world)
    const faults: unknown[] = []
    for (const row of own) {
      const schema = bodySchemaOf(row)
      if (!schema) continue
      const validate = ajv.compile(schema)
      for (const input of bodiesOf(schema)) {
        const answer = await send(fixtures, row, '', JSON.stringify(input))
        const fault = disagreement(nameOf(row), validate(input), answer)
        if (fault)
          faults.push([
            nameOf(row),
            fault,
            answer.status,
            JSON.stringify(input).slice(0, 300),
            answer.text.slice(0, 300),
          ])
      }
    }
    expect(faults).toEqual([])
  }, 600_000)

  it('accepts the queries that the panel accepts, and no others', async () => {
    const fixtures = await createFixtures(world)
    const faults: unknown[] = []
    for (const row of own) {
      const parameters = operationOf(row).parameters.filter((parameter) => parameter.in === 'query')
      if (row.method !== 'GET' || parameters.length === 0) continue
      for (const [at, parameter] of parameters.entries()) {
        const validate = ajv.compile(parameter.schema)
        const base = Object.fromEntries(
          parameters
            .filter((each) => each.required)
            .map(({ name, schema }) => [name, fc.sample(arbitraryOf(schema, name), { seed, numRuns: 1 })[0]]),
        )
        for (const value of draw(queryValues(parameter.schema), runs.substitutes * 2, at)) {
          const query = new URLSearchParams({ ...base, [parameter.name]: value } as Record<string, string>)
          const isValid = readingsOf(value).some((reading) =>
            validate(parameter.name.endsWith('[]') ? [reading] : reading),
          )
          const answer = await send(fixtures, row, `?${query}`)
          const fault = disagreement(nameOf(row), isValid, answer)
          if (fault)
            faults.push([
              nameOf(row),
              fault,
              answer.status,
              String(query).slice(0, 200),
              answer.text.slice(0, 200),
            ])
        }
      }
    }
    expect(faults).toEqual([])
  }, 600_000)
})

/** A query has texts only; the document may call them numbers or booleans. */
const readingsOf = (text: string): unknown[] => [
  text,
  ...(/^-?\d+(\.\d+)?$/.test(text) ? [Number(text)] : []),
]

const queryValues = (schema: JsonSchema): string[] => [
  ...new Set(
    substitutesFor(boundsAt(schema, []))
      .filter((value) => typeof value !== 'object' && typeof value !== 'symbol')
      .map(String),
  ),
]
