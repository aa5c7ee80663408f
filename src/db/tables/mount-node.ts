import { index, integer, pgTable, primaryKey } from 'drizzle-orm/pg-core'
import { mounts } from './mounts.ts'
import { nodes } from './nodes.ts'

/** The nodes that have the source of a mount, and allow it. */
export const mountNode = pgTable(
  'mount_node',
  {
    nodeId: integer()
      .notNull()
      .references(() => nodes.id, { onDelete: 'cascade' }),
    mountId: integer()
      .notNull()
      .references(() => mounts.id, { onDelete: 'cascade' }),
  },
  (t) => [primaryKey({ columns: [t.nodeId, t.mountId] }), index().on(t.mountId)],
)
