import { queryOptions } from '@tanstack/react-query'
import type { DatabaseResource } from '../../surfaces/client/resources/database.ts'
import { request } from './request.ts'
import { type Item, type List, rowsOf, type Wire } from './resources.ts'

export type Database = Wire<typeof DatabaseResource> & {
  relationships?: { password: Item<{ password: string } | null> }
}

const pathOf = (server: string, database = '') =>
  `/api/client/servers/${server}/databases${database && `/${database}`}`

export const databasesKey = (server: string) => ['server', server, 'databases'] as const

/** The databases of a server, without their passwords. */
export const databasesQuery = (server: string) =>
  queryOptions({
    queryKey: databasesKey(server),
    queryFn: async ({ signal }) => rowsOf(await request<List<Database>>('GET', pathOf(server), { signal })),
  })

/** The password of one of them, which is kept nowhere; null where there is none for the reader. */
export async function databasePassword(server: string, database: string): Promise<string | null> {
  const query = { include: 'password' }
  const rows = rowsOf(await request<List<Database>>('GET', pathOf(server), { query }))
  const found = rows.find(({ id }) => id === database)
  return found ? passwordOf(found) : null
}

/** The password that an answer tells. */
export const passwordOf = ({ relationships }: Database): string | null =>
  relationships?.password.attributes?.password ?? null

export type NewDatabase = { database: string; remote: string }

export const createDatabase = (server: string, body: NewDatabase) =>
  request<Item<Database>>('POST', pathOf(server), { body })

/** Its user has another password from now on, which the answer tells to whoever may see it. */
export const rotateDatabasePassword = (server: string, database: string) =>
  request<Item<Database>>('POST', `${pathOf(server, database)}/rotate-password`)

export const deleteDatabase = (server: string, database: string) =>
  request<void>('DELETE', pathOf(server, database))
