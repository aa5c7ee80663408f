import type { ApiDocument, Schema, Scheme } from '../api/openapi.ts'
import { alternativesOf, resolved } from './schemas.ts'
import type { ShownOperation } from './sections.ts'

/** What stands in an example where a credential belongs. */
const placeholders: Record<string, string> = {
  clientKey: 'ptlc_YOUR_KEY',
  applicationKey: 'ptla_YOUR_KEY',
  nodeToken: 'TOKEN_ID.TOKEN',
  session: 'YOUR_SESSION',
  queueSignature: 'SIGNATURE',
}

/** As a shell takes it for one word. */
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`

/** A call of the operation for a shell; what the reader has to fill in is in capital letters. */
export function curlOf(document: ApiDocument, operation: ShownOperation, origin: string): string {
  const { method, path, parameters, requestBody, security } = operation
  const filled = path.replaceAll(/\{(\w+)\}/g, (_match, name: string) => name.toUpperCase())
  const query = parameters
    .filter((parameter) => parameter.in === 'query' && parameter.required)
    .map(({ name }) => `${encodeURIComponent(name)}=${name.replaceAll(/\W+/g, '_').toUpperCase()}`)
    .join('&')
  const address = quoted(`${origin}${filled}${query === '' ? '' : `?${query}`}`)
  const [scheme] = security.flatMap(Object.keys)
  const parts = [
    method === 'GET' ? `curl ${address}` : `curl -X ${method} ${address}`,
    `-H ${quoted('Accept: application/json')}`,
    ...(scheme ? credentialOf(scheme, document.components.securitySchemes[scheme], method) : []),
    ...bodyOf(document, requestBody?.content ?? {}),
  ]
  return parts.join(' \\\n  ')
}

function credentialOf(name: string, scheme: Scheme | undefined, method: string): string[] {
  const value = placeholders[name] ?? 'CREDENTIAL'
  if (scheme?.in === 'header') return [`-H ${quoted(`${scheme.name}: ${value}`)}`]
  if (scheme?.in !== 'cookie') return [`-H ${quoted(`Authorization: Bearer ${value}`)}`]
  const proof = method === 'GET' ? [] : [`-H ${quoted('X-XSRF-TOKEN: TOKEN_OF_THE_PAGE')}`]
  return [`-b ${quoted(`${scheme.name}=${value}`)}`, ...proof]
}

function bodyOf(document: ApiDocument, content: Record<string, { schema: Schema }>): string[] {
  const form = content['multipart/form-data']
  if (form) return Object.keys(form.schema.properties ?? {}).map((name) => `-F ${quoted(`${name}=@FILE`)}`)
  const json = content['application/json']
  if (!json) return []
  const sample = JSON.stringify(sampleOf(document, json.schema, 0), null, 2)
  return [`-H ${quoted('Content-Type: application/json')}`, `-d ${quoted(sample)}`]
}

/** Deeper than that an example says nothing more. */
const deepest = 4

/** A value that looks like what the schema describes: what must be there, or everything where nothing must. */
function sampleOf(document: ApiDocument, asked: Schema, depth: number): unknown {
  const schema = resolved(document, asked)
  if (schema.default !== undefined) return schema.default
  if ('const' in schema) return schema.const
  if (schema.enum) return schema.enum[0]
  const [first] = alternativesOf(schema)
  if (first) return sampleOf(document, first, depth)
  const [type] = [schema.type ?? []].flat()
  if (type === 'array')
    return depth < deepest && schema.items ? [sampleOf(document, schema.items, depth + 1)] : []
  if (type === 'object') return depth < deepest ? sampleObject(document, schema, depth) : {}
  if (type === 'integer' || type === 'number') return Math.max(1, Number(schema.minimum ?? 1))
  return type === 'boolean' ? true : type === 'null' ? null : 'string'
}

function sampleObject(document: ApiDocument, { properties = {}, required = [] }: Schema, depth: number) {
  const names = required.length > 0 ? required : Object.keys(properties)
  return Object.fromEntries(
    names.map((name) => [name, sampleOf(document, properties[name] ?? {}, depth + 1)]),
  )
}
