import { queryOptions } from '@tanstack/react-query'
import { json } from './client.ts'
import { send } from './request.ts'

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
export type ResponseObject = { $ref?: string; description?: string; content?: Content }

export type Operation = {
  operationId: string
  tags: string[]
  summary: string
  /** Alternatives: any one of them is enough. */
  security: Record<string, never[]>[]
  'x-permission': string
  'x-throttles'?: { name: string; limit: number | 'configured'; seconds: number }[]
  parameters: Parameter[]
  requestBody?: { required: boolean; content: Content }
  responses: Record<string, ResponseObject>
}

/** How a credential is sent. */
export type SecurityScheme = { type: string; in?: 'header' | 'cookie'; name?: string; description: string }

export type ApiDocument = {
  info: { version: string }
  tags: { name: string; description: string }[]
  paths: Record<string, Record<string, Operation>>
  components: {
    schemas: Record<string, Schema>
    responses: Record<string, ResponseObject>
    securitySchemes: Record<string, SecurityScheme>
  }
}

/** The OpenAPI document of the panel: a file of the build, so it does not change while the page is open. */
export const apiDocumentQuery = queryOptions({
  queryKey: ['openapi'],
  queryFn: ({ signal }) => json<ApiDocument>(send('/openapi.json', { signal })),
  staleTime: Infinity,
})

export type TryItResult = { status: number; text: string }

/** Sends a GET request and returns the raw response, also for errors. */
export async function sendTryItRequest(address: string): Promise<TryItResult> {
  const answer = await fetch(address, { headers: { accept: 'application/json' } })
  return { status: answer.status, text: await answer.text() }
}
