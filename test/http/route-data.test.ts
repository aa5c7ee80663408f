import { sql } from 'drizzle-orm'
import { type Context, Hono } from 'hono'
import { expect, it } from 'vitest'
import type { DataColumn } from '../../src/db/data-column.ts'
import { type DataEnv, keepRouteData, plannedColumn, routeData } from '../../src/http/route-data.ts'

type Rows = { rows: number[] }
const column: DataColumn<Rows> = { name: null, column: () => sql<Rows>`1`, values: {} }

/** An app whose middleware reads what the route plans, as the credential of a surface does. */
function appThatReads(readWithCredential: boolean) {
  const contexts: Context[] = []
  const app = new Hono<DataEnv<Rows>>()
  app.use(async (c, next) => {
    contexts.push(c)
    if (readWithCredential) keepRouteData(c, await plannedColumn(c), { rows: [1, 2] })
    await next()
  })
  const reads = routeData<object>(async () => ({ rows: [3] }) as never)
  app.get(
    '/',
    reads(() => column),
    (c) => c.json(c.var.data.rows),
  )
  return { app, contexts }
}

it.each([
  { readWithCredential: true, rows: [1, 2] },
  { readWithCredential: false, rows: [3] },
])('a route finds what it reads, and its context leads to none of it afterwards (%j)', async (given) => {
  const { app, contexts } = appThatReads(given.readWithCredential)
  expect(await (await app.request('/')).json()).toEqual(given.rows)
  expect(Object.values(contexts[0]?.var ?? {}).filter((value) => value !== undefined)).toEqual([])
})
