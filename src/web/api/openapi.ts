import { queryOptions } from '@tanstack/react-query'
import { request } from './request.ts'

export type Schema = {
  $ref?: string
  type?: string | string[]
  const?: unknown
  enum?: unknown[]
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  additionalProperties?: boolean | Schema
  description?: string
  default?: unknown
} & Record<string, unknown>

export type Parameter = { name: string; in: 'path' | 'query'; required: boolean; schema: Schema }
type Content = Record<string, { schema: Schema }>
export type Answer = { $ref?: string; description?: string; content?: Content }

export type Operation = {
  operationId: string
  tags: string[]
  summary: string
  /** Any one of them will do. */
  security: Record<string, never[]>[]
  'x-permission': string
  'x-throttles'?: { name: string; limit: number | 'configured'; seconds: number }[]
  parameters: Parameter[]
  requestBody?: { required: boolean; content: Content }
  responses: Record<string, Answer>
}

/** How a credential is sent. */
export type Scheme = { type: string; in?: 'header' | 'cookie'; name?: string; description: string }

export type ApiDocument = {
  info: { version: string }
  tags: { name: string; description: string }[]
  paths: Record<string, Record<string, Operation>>
  components: {
    schemas: Record<string, Schema>
    responses: Record<string, Answer>
    securitySchemes: Record<string, Scheme>
  }
}

/** What the panel says of its own routes: a file of the build, the same until the page is loaded again. */
export const apiDocumentQuery = queryOptions({
  queryKey: ['openapi'],
  queryFn: ({ signal }) => request<ApiDocument>('GET', '/openapi.json', { signal }),
  staleTime: Infinity,
})

export type TriedOut = { status: number; text: string }

/** What the panel answers this browser with, refusals too, as it came. */
export async function tryOut(address: string): Promise<TriedOut> {
  const answer = await fetch(address, { headers: { accept: 'application/json' } })
  return { status: answer.status, text: await answer.text() }
}
