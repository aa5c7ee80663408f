import type { Hono } from 'hono'
import { expect } from 'vitest'
import type * as z from 'zod'
import type { HttpEnv } from '../../src/http/http-env.ts'
import { findMetadata, pathMatcher, type RouteRow, routesOf } from '../../src/http/metadata.ts'

// oxlint-disable-next-line typescript/no-explicit-any -- tests read answers freely; each is held to its schema first
export type Answer = { status: number; body: any; text: string; headers: Headers }

/** Reads a response. */
export async function answerOf(response: Response): Promise<Answer> {
  const text = await response.text()
  const isJson = (response.headers.get('content-type') ?? '').startsWith('application/json')
  return {
    status: response.status,
    body: isJson && text !== '' ? JSON.parse(text) : null,
    text,
    headers: response.headers,
  }
}

const schemas = new WeakMap<RouteRow, z.ZodType | null>()
const tables = new WeakMap<object, RouteRow[]>()

/** Checks a response against its route: a success against `returns`, a refusal against the error shape. */
export function checkAnswer(app: Hono<HttpEnv>, method: string, path: string, answer: Answer): void {
  // A browser gets a page at an address without a route.
  if (answer.status === 404 && answer.headers.get('content-type')?.startsWith('text/html')) return
  if (answer.status >= 400) {
    const entries = Array.isArray(answer.body?.errors) ? answer.body.errors : []
    expect(entries.length, `${method} ${path} answered ${answer.status} without errors`).toBeGreaterThan(0)
    for (const entry of entries) {
      expect(entry).toMatchObject({
        code: expect.any(String),
        status: String(answer.status),
        detail: expect.any(String),
      })
    }
    return
  }
  const table = tables.get(app) ?? routesOf(app)
  tables.set(app, table)
  const pathname = path.split('?')[0] ?? ''
  const row = table.find((route) => route.method === method && pathMatcher(route.path).test(pathname))
  const declared = row && findMetadata(row, 'returns')
  if (!row || !declared) return
  // What is for guests sends others to the panel.
  if (answer.status === 302 && findMetadata(row, 'permission')?.name === 'guest') return
  expect(answer.status, `${method} ${path}`).toBe(declared.status)
  if (!schemas.has(row)) schemas.set(row, declared.schema?.() ?? null)
  const type = answer.headers.get('content-type') ?? ''
  if (declared.textTypes?.some((each) => type.startsWith(each))) return
  const schema = schemas.get(row)
  if (schema) {
    const result = schema.safeParse(answer.body)
    expect(result.error?.issues ?? [], `${method} ${path} does not answer as declared`).toEqual([])
  } else if (declared.status === 204) {
    expect(answer.text, `${method} ${path} answered 204 with a body`).toBe('')
  }
}
