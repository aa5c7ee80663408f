import SwaggerParser from '@apidevtools/swagger-parser'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { apiInfo, listMountedRoutes } from '../../src/cli/api-info.ts'
import { describeRoute, routeTable } from '../../src/cli/route-table.ts'
import type { JsonSchema } from '../../src/http/json-schema.ts'
import { openApiDocument } from '../../src/http/openapi.ts'
import { presentNullable } from '../../src/domain/fields.ts'

const routes = listMountedRoutes()
const document = openApiDocument(routes, apiInfo('https://panel.test'))
const text = JSON.stringify(document)

type Operation = {
  operationId: string
  summary: string
  tags: string[]
  security: Record<string, unknown>[]
  parameters: { name: string; in: string; required: boolean; schema: JsonSchema }[]
  requestBody?: { content: Record<string, { schema: JsonSchema }> }
  responses: Record<string, { content?: Record<string, { schema: JsonSchema }> }>
}
const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({
    path,
    method,
    ...(operation as unknown as Operation),
  })),
)

/** The keywords of JSON Schema 2020-12 that the document uses or may use. */
const keywords = new Set(
  `$ref $defs $comment type const enum anyOf oneOf allOf not properties required additionalProperties propertyNames
  patternProperties items prefixItems contains minItems maxItems uniqueItems minLength maxLength pattern format minimum
  maximum exclusiveMinimum exclusiveMaximum multipleOf minProperties maxProperties default title description examples
  contentEncoding contentMediaType deprecated readOnly writeOnly`.split(/\s+/),
)

/** Lists a schema and every schema below it. */
function schemasIn(schema: unknown): JsonSchema[] {
  if (typeof schema !== 'object' || schema === null) return []
  const { properties, patternProperties, $defs, ...rest } = schema as Record<string, object>
  const named = [properties, patternProperties, $defs].flatMap((members) => Object.values(members ?? {}))
  const single = [rest.items, rest.additionalProperties, rest.propertyNames, rest.not, rest.contains]
  const lists = [rest.anyOf, rest.oneOf, rest.allOf, rest.prefixItems].flatMap(
    (list) => (list ?? []) as object[],
  )
  return [schema as JsonSchema, ...[...named, ...single, ...lists].flatMap(schemasIn)]
}

const schemas = [
  ...Object.values(document.components.schemas),
  ...operations.flatMap(({ parameters, requestBody, responses }) => [
    ...parameters.map(({ schema }) => schema),
    ...[requestBody, ...Object.values(responses)].flatMap((part) =>
      Object.values(part?.content ?? {}).map(({ schema }) => schema),
    ),
  ]),
].flatMap(schemasIn)

describe('the OpenAPI document', () => {
  it('is a valid document of OpenAPI 3.1', async () => {
    const copy = structuredClone(document) as unknown as Parameters<typeof SwaggerParser.validate>[0]
    await expect(SwaggerParser.validate(copy)).resolves.toMatchObject({ openapi: '3.1.0' })
  })

  it('describes every mounted route', () => {
    expect(operations.length).toBe(routes.length)
    expect(document.openapi).toBe('3.1.0')
    expect(operations.filter(({ summary }) => summary === '')).toEqual([])
  })

  it('has references that lead somewhere', () => {
    const at = (pointer: string) =>
      pointer
        .slice(2)
        .split('/')
        .reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], document)
    const references = [...text.matchAll(/"\$ref":"([^"]+)"/g)].map(([, pointer = '']) => pointer)
    expect(references.length).toBeGreaterThan(0)
    expect(
      [...new Set(references)].filter((pointer) => !pointer.startsWith('#/') || at(pointer) === undefined),
    ).toEqual([])
  })

  it('names each operation once', () => {
    const ids = operations.map(({ operationId }) => operationId)
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([])
    expect(ids.filter((id) => !/^[a-z][a-zA-Z0-9]+$/.test(id))).toEqual([])
  })

  it('declares the parameters of every path, and no parameter twice', () => {
    for (const { path, operationId, parameters } of operations) {
      const inPath = [...path.matchAll(/\{([^}]*)\}/g)].map(([, name]) => name)
      const declared = parameters.filter((parameter) => parameter.in === 'path')
      expect(
        declared.map(({ name }) => name),
        operationId,
      ).toEqual(inPath)
      expect(
        declared.every(({ required }) => required),
        operationId,
      ).toBe(true)
      const names = parameters.map(({ name, in: place }) => `${place} ${name}`)
      expect(new Set(names).size, operationId).toBe(names.length)
    }
    expect(Object.keys(document.paths).filter((path) => /[:*]/.test(path))).toEqual([])
  })

  it('spells the filters of lists as they are sent', () => {
    const list = operations.find(({ operationId }) => operationId === 'getApplicationLocations')
    const names = list?.parameters.map(({ name }) => name)
    expect(names).toEqual(['page', 'per_page', 'filter[short]', 'filter[long]', 'sort', 'include'])
  })

  it('uses only keywords that JSON Schema has, with patterns that compile', () => {
    const unknown = schemas.flatMap((schema) =>
      Object.keys(schema).filter((keyword) => !keywords.has(keyword)),
    )
    expect([...new Set(unknown)]).toEqual([])
    for (const { pattern } of schemas) if (pattern !== undefined) new RegExp(String(pattern), 'u').test('')
    const required = schemas.filter((schema) => Array.isArray(schema.required) && schema.properties)
    for (const schema of required) {
      const members = Object.keys(schema.properties as object)
      expect((schema.required as string[]).filter((name) => !members.includes(name))).toEqual([])
    }
  })

  it('puts every operation under a section and behind a scheme that is described', () => {
    const tags = document.tags.map(({ name }) => name)
    const schemes = Object.keys(document.components.securitySchemes)
    for (const { operationId, tags: own, security } of operations) {
      expect(
        own.every((tag) => tags.includes(tag)),
        operationId,
      ).toBe(true)
      expect(
        security.flatMap(Object.keys).filter((name) => !schemes.includes(name)),
        operationId,
      ).toEqual([])
    }
  })

  it('answers every refusal in the shape of errors, and 204 with nothing', () => {
    for (const [name, response] of Object.entries(document.components.responses)) {
      expect(JSON.stringify(response), name).toContain('"#/components/schemas/Errors"')
    }
    for (const { operationId, responses } of operations) {
      expect(Object.keys(responses).filter((status) => /^[23]/.test(status)).length, operationId).toBe(1)
      expect(responses['204']?.content, operationId).toBeUndefined()
      expect(responses.default, operationId).toEqual({ $ref: '#/components/responses/Refused' })
    }
  })

  it('documents the format of each field, and refuses undocumented credentials', () => {
    const row = (name: string, schema: z.ZodType) => [
      {
        method: 'POST',
        path: '/api/client/:thing',
        metadata: [
          { kind: 'credential' as const, name },
          { kind: 'input' as const, target: 'json' as const, schema: () => schema },
          { kind: 'returns' as const, status: 204, schema: null },
        ],
      },
    ]
    const loose = z.object({ limit: presentNullable(z.preprocess(Number, z.int().min(3))) })
    const described = JSON.stringify(openApiDocument(row('none', loose), apiInfo('https://panel.test')))
    expect(described).toContain(
      '"limit":{"anyOf":[{"type":"integer","minimum":3},{"type":"null"},{"type":"string","pattern":"^\\\\s*$"',
    )
    expect(() => openApiDocument(row('a handshake', loose), apiInfo('https://panel.test'))).toThrow(
      /a handshake/,
    )
  })
})

describe('the table of routes', () => {
  it('has one aligned line for each route under a heading', () => {
    const lines = routeTable(routes.map(describeRoute)).trimEnd().split('\n')
    expect(lines.length).toBe(routes.length + 1)
    const column = lines[0]?.indexOf('CREDENTIAL') ?? 0
    expect(lines.filter((line) => line[column - 1] !== ' ' || line[column] === ' ')).toEqual([])
    expect(lines.find((line) => line.includes('/api/application/locations/{location}'))).toMatch(
      /^GET +\/api\/application\/locations\/\{location\} +application key or session +locations READ +application \*\/60s +200 +Show a location$/,
    )
  })
})
