import { describeAccepted, withEmptyBody } from './accepted-input.ts'
import {
  alternativesOf,
  hoistResources,
  type JsonSchema,
  jsonSchemaOf,
  propertiesOf,
  requiredOf,
  typesOf,
} from './json-schema.ts'
import { findMetadata, type RouteMetadata, type RouteRow } from './metadata.ts'

export type SecurityScheme =
  | { type: 'http'; scheme: 'bearer'; description: string }
  | { type: 'apiKey'; in: 'header' | 'cookie'; name: string; description: string }

/** What the document says beside the routes. */
export type DocumentInfo = {
  title: string
  version: string
  description: string
  /** Origin of the panel; `/` is the origin that serves the document. */
  url: string
  /** Sections of the document; a route belongs to the first whose prefix its path has. */
  tags: { name: string; prefix: string; description: string }[]
  /** Schemes by the credential of a route; any one of them is enough. */
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

/** Writes `:server` and `:server{…}` as `{server}`. */
export const openApiPath = (path: string) => path.replace(/:(\w+)(\{[^/]*\})?/g, '{$1}')

/**
 * Builds the OpenAPI 3.1 document from the metadata of the routes. Throws when `info` does not describe the
 * credential of a route.
 */
export function openApiDocument(routes: RouteRow[], info: DocumentInfo): OpenApiDocument {
  const { title, version, description, url, tags } = info
  const schemas: Record<string, JsonSchema> = { Errors: errorsSchema }
  const paths: OpenApiDocument['paths'] = {}
  for (const row of routes) {
    const path = (paths[openApiPath(row.path)] ??= {})
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
      responses: Object.fromEntries(
        errorResponses.map((refusal) => [refusal.name, errorResponse(refusal.text)]),
      ),
      securitySchemes: Object.assign({}, ...Object.values(info.credentials)) as Record<
        string,
        SecurityScheme
      >,
    },
  }
}

function operationOf(row: RouteRow, info: DocumentInfo, schemas: Record<string, JsonSchema>): JsonSchema {
  const tag = info.tags.find(({ prefix }) => row.path.startsWith(prefix))?.name ?? ''
  const throttles = row.metadata.filter((metadata) => metadata.kind === 'throttle')
  return {
    operationId: operationId(row),
    tags: [tag],
    summary: findMetadata(row, 'summary')?.text ?? '',
    security: securityOf(row, info),
    'x-permission': findMetadata(row, 'permission')?.name ?? '',
    ...(throttles.length > 0 ? { 'x-throttles': throttles.map(throttleOf) } : {}),
    parameters: [...pathParameters(row), ...queryParameters(row), ...includeParameter(row)],
    ...requestBodyOf(row),
    responses: { ...successOf(row, tag, schemas), ...errorResponsesOf(row) },
  }
}

/** Builds the operation id from method and path, so that it is unique: `getApplicationServersByServer`. */
function operationId({ method, path }: RouteRow): string {
  const segments = openApiPath(path)
    .replace(/^\/api\//, '/')
    .replace(/\{(\w+)\}/g, 'by-$1')
    .split(/[^a-zA-Z0-9]+/)
    .filter(Boolean)
    .map((segment) => segment.charAt(0).toUpperCase() + segment.slice(1))
  return method.toLowerCase() + segments.join('')
}

/** Lists the schemes of the credential as alternatives; none when the route needs no credential. */
function securityOf(row: RouteRow, info: DocumentInfo): Record<string, never[]>[] {
  const credential = findMetadata(row, 'credential')?.name ?? ''
  const schemes = info.credentials[credential]
  if (!schemes)
    throw new Error(`${row.method} ${row.path} needs "${credential}", which the document does not describe.`)
  return Object.keys(schemes).map((name) => ({ [name]: [] }))
}

const throttleOf = ({ name, limit, seconds }: Extract<RouteMetadata, { kind: 'throttle' }>) => ({
  name,
  limit,
  seconds,
})

type Target = Extract<RouteMetadata, { kind: 'input' }>['target']

function inputMetadata(row: RouteRow, target: Target) {
  return row.metadata.find((metadata) => metadata.kind === 'input' && metadata.target === target) as
    | Extract<RouteMetadata, { kind: 'input' }>
    | undefined
}

/** Describes what is accepted, not only what should be sent. */
function inputSchema(row: RouteRow, target: Target): JsonSchema | null {
  const metadata = inputMetadata(row, target)
  if (!metadata) return null
  const { schema, preserveWhitespace = false, requiresBody = false } = metadata
  // Values of a path and files of a form are not normalised.
  const isExact = preserveWhitespace || target === 'param' || target === 'form'
  const described = describeAccepted(jsonSchemaOf(schema(), 'accepted'), isExact)
  return target === 'json' ? withEmptyBody(described, requiresBody) : described
}

function pathParameters(row: RouteRow): JsonSchema[] {
  const described = propertiesOf(inputSchema(row, 'param') ?? {})
  return [...openApiPath(row.path).matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    schema: described[name] ?? { type: 'string' },
  }))
}

/** Writes objects as `filter[name]` and lists as `name[]`. */
function queryParameters(row: RouteRow): JsonSchema[] {
  const query = inputSchema(row, 'query') ?? {}
  return Object.entries(propertiesOf(query)).flatMap(([name, schema]) => {
    const members = alternativesOf(schema).flatMap((each) => Object.entries(propertiesOf(each)))
    const parameter = (parameterName: string, described: JsonSchema) => ({
      name: parameterName,
      in: 'query',
      required: requiredOf(query).includes(name) && members.length === 0,
      schema: described,
    })
    if (members.length > 0) return members.map(([member, each]) => parameter(`${name}[${member}]`, each))
    return [parameter(typesOf(schema).includes('array') ? `${name}[]` : name, schema)]
  })
}

/** Adds `include` where the answer has relations; lists declare it themselves. */
function includeParameter(row: RouteRow): JsonSchema[] {
  const output = findMetadata(row, 'returns')?.schema
  if (!output || propertiesOf(inputSchema(row, 'query') ?? {}).include) return []
  const schema = jsonSchemaOf(output(), 'output')
  const data = propertiesOf(schema).data as { items?: JsonSchema } | undefined
  const attributes = propertiesOf(data?.items ?? schema).attributes
  if (!attributes || !propertiesOf(attributes).relationships) return []
  return [{ name: 'include', in: 'query', required: false, schema: { type: 'string' } }]
}

const bodyTypes = { json: ['application/json'], form: ['multipart/form-data'] }

function requestBodyOf(row: RouteRow): JsonSchema {
  for (const target of ['json', 'form'] as const) {
    const schema = inputSchema(row, target)
    if (!schema) continue
    const metadata = inputMetadata(row, target)
    const required = requiredOf(schema).length > 0 || metadata?.requiresBody === true
    const types = metadata?.types ?? bodyTypes[target]
    const content = Object.fromEntries(types.map((type) => [type, { schema }]))
    return { requestBody: { required, content } }
  }
  return {}
}

function successOf(
  row: RouteRow,
  tag: string,
  schemas: Record<string, JsonSchema>,
): Record<string, JsonSchema> {
  const returned = findMetadata(row, 'returns')
  if (!returned) return {}
  const { status } = returned
  const schema = returned.schema ? jsonSchemaOf(returned.schema(), 'output') : null
  const nameOf = (resource: string) => `${tag}.${resource}`
  const texts = (returned.textTypes ?? []).map((type) => [type, { schema: { type: 'string' } }] as const)
  const json = schema ? { 'application/json': { schema: hoistResources(schema, schemas, nameOf) } } : null
  const content = json && { ...json, ...Object.fromEntries(texts) }
  return {
    [status]: { description: successDescriptions[status] ?? 'OK.', ...(content ? { content } : {}) },
  }
}

const successDescriptions: Record<number, string> = {
  200: 'OK.',
  201: 'Created.',
  202: 'Accepted; the work continues in the background.',
  204: 'Done, without content.',
  302: 'Redirect.',
}

type ErrorResponse = { status: string; name: string; text: string; appliesTo: (row: RouteRow) => boolean }

const hasInput = (row: RouteRow) =>
  (['json', 'form', 'query'] as const).some((target) => inputSchema(row, target) !== null)

/** The errors of the document, and which routes can answer with them. */
const errorResponses: ErrorResponse[] = [
  {
    status: '401',
    name: 'Unauthenticated',
    text: 'The credential is missing or invalid.',
    appliesTo: (row) => findMetadata(row, 'credential')?.name !== 'none',
  },
  {
    status: '403',
    name: 'Forbidden',
    text: 'The caller may not do this.',
    appliesTo: (row) => findMetadata(row, 'credential')?.name !== 'none',
  },
  {
    status: '404',
    name: 'NotFound',
    text: 'The resource does not exist, or the caller has no access to it.',
    appliesTo: (row) => row.path.includes(':'),
  },
  {
    status: '422',
    name: 'Invalid',
    text: 'The input is invalid: one entry per failed rule, with the field in `meta`.',
    appliesTo: hasInput,
  },
  {
    status: '429',
    name: 'TooManyRequests',
    text: 'Too many requests: wait for the seconds in `Retry-After`.',
    appliesTo: (row) => findMetadata(row, 'throttle') !== null,
  },
  { status: 'default', name: 'Refused', text: 'Any other error.', appliesTo: () => true },
]

const errorResponsesOf = (row: RouteRow) =>
  Object.fromEntries(
    errorResponses
      .filter(({ appliesTo }) => appliesTo(row))
      .map(({ status, name }) => [status, { $ref: `#/components/responses/${name}` }]),
  )

const errorResponse = (description: string) => ({
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
            properties: {
              source_field: { type: 'string' },
              rule: { type: 'string' },
              reason: { type: 'string' },
              values: { type: 'object', additionalProperties: { type: ['string', 'number'] } },
              before: {
                type: 'object',
                required: ['reason', 'values'],
                properties: { reason: { type: 'string' }, values: { type: 'object' } },
              },
            },
          },
        },
      },
    },
  },
}
