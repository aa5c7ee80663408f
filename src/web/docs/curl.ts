import type { ApiDocument, Schema, SecurityScheme } from '../api/openapi.ts'
import { alternativesOf, resolveSchema } from './schemas.ts'
import type { DocumentedOperation } from './sections.ts'

/** Placeholders for credentials in examples. */
const placeholders: Record<string, string> = {
  clientKey: 'ptlc_YOUR_KEY',
  applicationKey: 'ptla_YOUR_KEY',
  nodeToken: 'TOKEN_ID.TOKEN',
  session: 'YOUR_SESSION',
  queueSignature: 'SIGNATURE',
}

/** Quotes a text as one word for a shell. */
const shellQuote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`

/** Returns a curl command for an operation; what the user has to fill in is in capital letters. */
export function curlOf(document: ApiDocument, operation: DocumentedOperation, origin: string): string {
  const { method, path, parameters, requestBody, security } = operation
  const filledPath = path.replaceAll(/\{(\w+)\}/g, (_match, name: string) => name.toUpperCase())
  const query = parameters
    .filter((parameter) => parameter.in === 'query' && parameter.required)
    .map(({ name }) => `${encodeURIComponent(name)}=${name.replaceAll(/\W+/g, '_').toUpperCase()}`)
    .join('&')
  const address = shellQuote(`${origin}${filledPath}${query === '' ? '' : `?${query}`}`)
  const [scheme] = security.flatMap(Object.keys)
  const parts = [
    method === 'GET' ? `curl ${address}` : `curl -X ${method} ${address}`,
    `-H ${shellQuote('Accept: application/json')}`,
    ...(scheme ? credentialOf(scheme, document.components.securitySchemes[scheme], method) : []),
    ...bodyOf(document, requestBody?.content ?? {}),
  ]
  return parts.join(' \\\n  ')
}

function credentialOf(name: string, scheme: SecurityScheme | undefined, method: string): string[] {
  const value = placeholders[name] ?? 'CREDENTIAL'
  if (scheme?.in === 'header') return [`-H ${shellQuote(`${scheme.name}: ${value}`)}`]
  if (scheme?.in !== 'cookie') return [`-H ${shellQuote(`Authorization: Bearer ${value}`)}`]
  const csrfHeader = method === 'GET' ? [] : [`-H ${shellQuote('X-XSRF-TOKEN: TOKEN_OF_THE_PAGE')}`]
  return [`-b ${shellQuote(`${scheme.name}=${value}`)}`, ...csrfHeader]
}

function bodyOf(document: ApiDocument, content: Record<string, { schema: Schema }>): string[] {
  const form = content['multipart/form-data']
  if (form)
    return Object.keys(form.schema.properties ?? {}).map((name) => `-F ${shellQuote(`${name}=@FILE`)}`)
  const json = content['application/json']
  if (!json) return []
  const example = JSON.stringify(exampleOf(document, json.schema, 0), null, 2)
  return [`-H ${shellQuote('Content-Type: application/json')}`, `-d ${shellQuote(example)}`]
}

/** Examples are cut off below this depth. */
const maxDepth = 4

/** Returns an example value for a schema: the required properties, or all of them when none is required. */
function exampleOf(document: ApiDocument, schemaOrRef: Schema, depth: number): unknown {
  const schema = resolveSchema(document, schemaOrRef)
  if (schema.default !== undefined) return schema.default
  if ('const' in schema) return schema.const
  if (schema.enum) return schema.enum[0]
  const [first] = alternativesOf(schema)
  if (first) return exampleOf(document, first, depth)
  const [type] = [schema.type ?? []].flat()
  if (type === 'array')
    return depth < maxDepth && schema.items ? [exampleOf(document, schema.items, depth + 1)] : []
  if (type === 'object') return depth < maxDepth ? exampleObject(document, schema, depth) : {}
  if (type === 'integer' || type === 'number') return Math.max(1, Number(schema.minimum ?? 1))
  return type === 'boolean' ? true : type === 'null' ? null : 'string'
}

function exampleObject(document: ApiDocument, { properties = {}, required = [] }: Schema, depth: number) {
  const names = required.length > 0 ? required : Object.keys(properties)
  return Object.fromEntries(
    names.map((name) => [name, exampleOf(document, properties[name] ?? {}, depth + 1)]),
  )
}
