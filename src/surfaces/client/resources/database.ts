import * as z from 'zod'
import type { ClientDatabase } from '../../../domain/client-databases.ts'
import { NullResource, nullResource, resource } from '../../../http/resource.ts'

const PasswordResource = resource(
  'database_password',
  () => z.object({ password: z.string() }),
  ({ plainPassword }: { plainPassword: string }) => ({ password: plainPassword }),
)

/** Its id is the number of the row as a string, which clients of the ecosystem ask for; paths take it back. */
export const DatabaseResource = resource(
  'server_database',
  () =>
    z.object({
      id: z.string(),
      host: z.object({ address: z.string(), port: z.int() }),
      name: z.string(),
      username: z.string(),
      connections_from: z.string(),
      max_connections: z.int(),
      relationships: z.object({ password: z.union([PasswordResource.One(), NullResource()]) }).optional(),
    }),
  ({ row, shown }: { row: ClientDatabase; shown: PasswordShown }) => ({
    id: String(row.id),
    host: { address: row.host.host, port: row.host.port },
    name: row.database,
    username: row.username,
    connections_from: row.remote,
    max_connections: row.maxConnections,
    ...(shown === 'unasked' ? {} : { relationships: { password: passwordOf(row, shown) } }),
  }),
)

/** `denied` passwords stand there as nothing. */
export type PasswordShown = 'unasked' | 'denied' | 'granted'

const passwordOf = ({ plainPassword }: ClientDatabase, shown: PasswordShown) =>
  shown === 'denied' || plainPassword === undefined ? nullResource : PasswordResource.one({ plainPassword })
