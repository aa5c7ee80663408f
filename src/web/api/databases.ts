import { queryOptions } from '@tanstack/react-query'
import type { DatabaseResource } from '../../surfaces/client/resources/database.ts'
import { abortedBy, done, json, serverApi } from './client.ts'
import { attributesOf, type AttributesOf, rowsOf } from './resources.ts'

export type Database = AttributesOf<typeof DatabaseResource>

const { databases } = serverApi

export const databasesKey = (server: string) => ['server', server, 'databases'] as const

/** The databases of a server, without their passwords. */
export const databasesQuery = (server: string) =>
  queryOptions({
    queryKey: databasesKey(server),
    queryFn: ({ signal }) =>
      json(databases.$get({ param: { server }, query: {} }, abortedBy(signal))).then(rowsOf),
  })

/** Fetches the password of one database; null when the user may not see it. It is cached nowhere. */
export async function databasePassword(server: string, database: string): Promise<string | null> {
  const rows = rowsOf(await json(databases.$get({ param: { server }, query: { include: 'password' } })))
  const found = rows.find(({ id }) => id === database)
  return found ? passwordOf(found) : null
}

/** Returns the password that an answer includes. */
export const passwordOf = ({ relationships }: Database): string | null =>
  relationships?.password.attributes?.password ?? null

export type NewDatabase = { database: string; remote: string }

/** Creates a database. The answer includes its password for users who may see it. */
export const createDatabase = (server: string, form: NewDatabase): Promise<Database> =>
  json(databases.$post({ param: { server }, json: form })).then(attributesOf)

/** Gives the database another password. The answer includes it for users who may see it. */
export const rotateDatabasePassword = (server: string, database: string): Promise<Database> =>
  json(databases[':database']['rotate-password'].$post({ param: { server, database } })).then(attributesOf)

export const deleteDatabase = (server: string, database: string) =>
  done(databases[':database'].$delete({ param: { server, database } }))
