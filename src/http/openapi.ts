import { type Fact, factOfKind, type RouteRow } from './facts.ts'
import {
  alternativesOf,
  hoistResources,
  type JsonSchema,
  jsonSchemaOf,
  propertiesOf,
  requiredOf,
  typesOf,
} from './json-schema.ts'

export type SecurityScheme =
  | { type: 'http'; scheme: 'bearer'; description: string }
  | { type: 'apiKey'; in: 'header' | 'cookie'; name: string; description: string }

/** What the routes do not say of themselves. */
export type DocumentInfo = {
  title: string
  version: string
  description: string
  /** Origin under which the panel is reached; `/` where that is the one the document comes from. */
  url: string
  /** Sections, by the beginning of their paths; the first that fits is taken. */
  tags: { name: string; prefix: string; description: string }[]
  /** Credential of a route → the schemes of which any one will do. */
  credentials: Record<string, Record<string, SecurityScheme>>
}

export type OpenApiDocument = {
  openapi: '3.1.0'
  info: { title: string; version: string; description: string }
  servers: { url: string }[]
  tags: { name: string; description: string }[]
  paths: Record<string, Record<string, JsonSchema>>
  components: {
    schemas: Record<string, JsonSchema>
    responses: Record<string, JsonSchema>
    securitySchemes: Record<string, SecurityScheme>
  }
}

/** `:server` and `:server{…}` as `{server}`. */
export const curlyPath = (path: string) => path.replace(/:(\w+)(\{[^/]*\})?/g, '{$1}')

/**
 * The OpenAPI 3.1 document of the routes, built from what they state about themselves. Throws when a route
 * names a credential that `info` does not describe.
 */
export function openApiDocument(routes: RouteRow[], info: DocumentInfo): OpenApiDocument {
  const { title, version, description, url, tags } = info
  const schemas: Record<string, JsonSchema> = { Errors: errorsSchema }
  const paths: OpenApiDocument['paths'] = {}
  for (const row of routes) {
    const path = (paths[curlyPath(row.path)] ??= {})
    path[row.method.toLowerCase()] = operationOf(row, info, schemas)
  }
  return {
    openapi: '3.1.0',
    info: { title, version, description },
    servers: [{ url }],
    tags: tags.map((tag) => ({ name: tag.name, description: tag.description })),
    paths,
    components: {
      schemas,
      responses: Object.fromEntries(refusals.map((refusal) => [refusal.name, refusalResponse(refusal.text)])),
      securitySchemes: Object.assign({}, ...Object.values(info.credentials)) as Record<
        string,
        SecurityScheme
      >,
    },
  }
}

function operationOf(row: RouteRow, info: DocumentInfo, schemas: Record<string, JsonSchema>): JsonSchema {
  const tag = info.tags.find(({ prefix }) => row.path.startsWith(prefix))?.name ?? ''
  const throttles = row.facts.filter((fact) => fact.kind === 'throttle')
  return {
    operationId: operationId(row),
    tags: [tag],
    summary: factOfKind(row, 'summary')?.text ?? '',
    security: securityOf(row, info),
    'x-permission': factOfKind(row, 'permission')?.name ?? '',
    ...(throttles.length > 0 ? { 'x-throttles': throttles.map(throttleOf) } : {}),
    parameters: [...pathParameters(row), ...queryParameters(row), ...includeParameter(row)],
    ...requestBodyOf(row),
    responses: { ...successOf(row, tag, schemas), ...refusalsOf(row) },
  }
}

/** Unique, since it spells method and path: `getApplicationServersByServer`. */
function operationId({ method, path }: RouteRow): string {
  const words = curlyPath(path)
    .replace(/^\/api\//, '/')
    .replace(/\{(\w+)\}/g, 'by-$1')
    .split(/[^a-zA-Z0-9]+/)
    .filter(Boolean)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
  return method.toLowerCase() + words.join('')
}

/** The schemes of the credential, each an alternative; an empty list where nothing is asked. */
function securityOf(row: RouteRow, info: DocumentInfo): Record<string, never[]>[] {
  const credential = factOfKind(row, 'credential')?.name ?? ''
  const schemes = info.credentials[credential]
  if (!schemes) throw new Error(`${row.method} ${row.path} needs "${credential}", which nothing describes.`)
  return Object.keys(schemes).map((name) => ({ [name]: [] }))
}

const throttleOf = ({ name, limit, seconds }: Extract<Fact, { kind: 'throttle' }>) => ({
  name,
  limit: limit === 0 ? 'configured' : limit,
  seconds,
})

type Place = Extract<Fact, { kind: 'input' }>['place']

function inputOf(row: RouteRow, place: Place): JsonSchema | null {
  const fact = row.facts.find((candidate) => candidate.kind === 'input' && candidate.place === place)
  return fact?.kind === 'input' ? jsonSchemaOf(fact.schema(), 'input') : null
}

function pathParameters(row: RouteRow): JsonSchema[] {
  const described = propertiesOf(inputOf(row, 'param') ?? {})
  return [...curlyPath(row.path).matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    schema: described[name] ?? { type: 'string' },
  }))
}

/** Objects are spelt `filter[name]`, lists `name[]`. */
function queryParameters(row: RouteRow): JsonSchema[] {
  const query = inputOf(row, 'query') ?? {}
  return Object.entries(propertiesOf(query)).flatMap(([name, schema]) => {
    const members = alternativesOf(schema).flatMap((each) => Object.entries(propertiesOf(each)))
    const parameter = (spelt: string, described: JsonSchema) => ({
      name: spelt,
      in: 'query',
      required: requiredOf(query).includes(name) && members.length === 0,
      schema: described,
    })
    if (members.length > 0) return members.map(([member, each]) => parameter(`${name}[${member}]`, each))
    return [parameter(typesOf(schema).includes('array') ? `${name}[]` : name, schema)]
  })
}

/** What has relations takes `include`; lists state it themselves. */
function includeParameter(row: RouteRow): JsonSchema[] {
  const output = factOfKind(row, 'returns')?.schema
  if (!output || propertiesOf(inputOf(row, 'query') ?? {}).include) return []
  const schema = jsonSchemaOf(output(), 'output')
  const data = propertiesOf(schema).data as { items?: JsonSchema } | undefined
  const attributes = propertiesOf(data?.items ?? schema).attributes
  if (!attributes || !propertiesOf(attributes).relationships) return []
  return [{ name: 'include', in: 'query', required: false, schema: { type: 'string' } }]
}

const bodyTypes = { json: 'application/json', form: 'multipart/form-data' } as const

function requestBodyOf(row: RouteRow): JsonSchema {
  for (const place of ['json', 'form'] as const) {
    const schema = inputOf(row, place)
    if (!schema) continue
    const required = requiredOf(schema).length > 0
    return { requestBody: { required, content: { [bodyTypes[place]]: { schema } } } }
  }
  return {}
}

function successOf(
  row: RouteRow,
  tag: string,
  schemas: Record<string, JsonSchema>,
): Record<string, JsonSchema> {
  const declared = factOfKind(row, 'returns')
  if (!declared) return {}
  const { status } = declared
  const schema = declared.schema ? jsonSchemaOf(declared.schema(), 'output') : null
  const nameOf = (resource: string) => `${tag}.${resource}`
  const content = schema ? { 'application/json': { schema: hoistResources(schema, schemas, nameOf) } } : null
  return { [status]: { description: successTexts[status] ?? 'Done.', ...(content ? { content } : {}) } }
}

const successTexts: Record<number, string> = {
  200: 'Done.',
  201: 'Made.',
  202: 'Taken on; it is done later.',
  204: 'Done; there is nothing to say.',
  302: 'Elsewhere.',
}

type Refusal = { status: string; name: string; text: string; isOf: (row: RouteRow) => boolean }

const hasInput = (row: RouteRow) =>
  (['json', 'form', 'query'] as const).some((place) => inputOf(row, place) !== null)

/** What is refused with which status, and which routes can do so. */
const refusals: Refusal[] = [
  {
    status: '401',
    name: 'Unauthenticated',
    text: 'No credential, or none that is valid.',
    isOf: (row) => factOfKind(row, 'credential')?.name !== 'none',
  },
  {
    status: '403',
    name: 'Forbidden',
    text: 'Known, but not allowed.',
    isOf: (row) => factOfKind(row, 'credential')?.name !== 'none',
  },
  {
    status: '404',
    name: 'NotFound',
    text: 'Not there, or not for this caller.',
    isOf: (row) => row.path.includes(':'),
  },
  {
    status: '422',
    name: 'Invalid',
    text: 'The input breaks a rule: one entry for each, with the field in `meta`.',
    isOf: hasInput,
  },
  {
    status: '429',
    name: 'TooManyRequests',
    text: 'Too many requests: wait as long as `Retry-After` says.',
    isOf: (row) => factOfKind(row, 'throttle') !== null,
  },
  { status: 'default', name: 'Refused', text: 'Any other refusal.', isOf: () => true },
]

const refusalsOf = (row: RouteRow) =>
  Object.fromEntries(
    refusals
      .filter(({ isOf }) => isOf(row))
      .map(({ status, name }) => [status, { $ref: `#/components/responses/${name}` }]),
  )

const refusalResponse = (description: string) => ({
  description,
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Errors' } } },
})

const errorsSchema: JsonSchema = {
  type: 'object',
  required: ['errors'],
  properties: {
    errors: {
      type: 'array',
      minItems: 1,
      items: {
        type: 'object',
        required: ['code', 'status', 'detail'],
        properties: {
          code: { type: 'string' },
          status: { type: 'string', pattern: '^[45]\\d\\d$' },
          detail: { type: 'string' },
          meta: {
            type: 'object',
            required: ['source_field', 'rule'],
            properties: { source_field: { type: 'string' }, rule: { type: 'string' } },
          },
        },
      },
    },
  },
}
