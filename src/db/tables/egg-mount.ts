import { index, integer, pgTable, primaryKey } from 'drizzle-orm/pg-core'
import { eggs } from './eggs.ts'
import { mounts } from './mounts.ts'

/** The eggs whose servers may have a mount. */
export const eggMount = pgTable(
  'egg_mount',
  {
    eggId: integer()
      .notNull()
      .references(() => eggs.id, { onDelete: 'cascade' }),
    mountId: integer()
      .notNull()
      .references(() => mounts.id, { onDelete: 'cascade' }),
  },
  (t) => [primaryKey({ columns: [t.eggId, t.mountId] }), index().on(t.mountId)],
)
