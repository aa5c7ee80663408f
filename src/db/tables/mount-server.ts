import { index, integer, pgTable, primaryKey } from 'drizzle-orm/pg-core'
import { mounts } from './mounts.ts'
import { servers } from './servers.ts'

/** The servers with a mount. Its daemon gets it while the egg and the node of the server allow it. */
export const mountServer = pgTable(
  'mount_server',
  {
    serverId: integer()
      .notNull()
      .references(() => servers.id, { onDelete: 'cascade' }),
    mountId: integer()
      .notNull()
      .references(() => mounts.id, { onDelete: 'cascade' }),
  },
  (t) => [primaryKey({ columns: [t.serverId, t.mountId] }), index().on(t.mountId)],
)
