import * as z from 'zod'
import type { ClientDatabase } from '../../../domain/databases/client-databases.ts'
import { NullResource, nullResource, resource } from '../../../http/resource.ts'

const PasswordResource = resource(
  'database_password',
  () => z.object({ password: z.string() }),
  ({ plainPassword }: { plainPassword: string }) => ({ password: plainPassword }),
)

/** A database of a server; its id is a string of digits, as clients of the ecosystem expect. */
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
  ({ row, visibility }: { row: ClientDatabase; visibility: PasswordVisibility }) => ({
    id: String(row.id),
    host: { address: row.host.host, port: row.host.port },
    name: row.database,
    username: row.username,
    connections_from: row.remote,
    max_connections: row.maxConnections,
    ...(visibility === 'hidden' ? {} : { relationships: { password: passwordOf(row, visibility) } }),
  }),
)

/** `denied` passwords are a null resource, `hidden` ones are left out. */
export type PasswordVisibility = 'hidden' | 'denied' | 'granted'

const passwordOf = ({ plainPassword }: ClientDatabase, visibility: PasswordVisibility) =>
  visibility === 'denied' || plainPassword === undefined
    ? nullResource
    : PasswordResource.one({ plainPassword })
