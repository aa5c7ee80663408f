import { sql } from 'drizzle-orm'
import { check, integer, pgTable, text, unique } from 'drizzle-orm/pg-core'
import { id, times } from '../columns.ts'
import { databaseHosts } from './database-hosts.ts'
import { servers } from './servers.ts'

/** Databases of game servers. A row is created before its database and deleted after it. */
export const databases = pgTable(
  'databases',
  {
    ...id,
    serverId: integer()
      .notNull()
      .references(() => servers.id, { onDelete: 'restrict' }),
    databaseHostId: integer()
      .notNull()
      .references(() => databaseHosts.id, { onDelete: 'restrict' }),
    database: text().notNull(),
    username: text().notNull(),
    /** Address pattern from which the user may connect. */
    remote: text().notNull().default('%'),
    /** Encrypted. */
    password: text().notNull(),
    /** 0 is unlimited. */
    maxConnections: integer().notNull().default(0),
    state: text({ enum: ['creating', 'ready', 'deleting'] })
      .notNull()
      .default('creating'),
    /** What the panel it moved in from showed as its id; paths take it, too. */
    hashid: text(),
    ...times,
  },
  (t) => [
    unique().on(t.databaseHostId, t.username),
    unique().on(t.databaseHostId, t.database),
    unique().on(t.serverId, t.database),
    check('databases_state', sql`${t.state} in ('creating', 'ready', 'deleting')`),
    check('databases_database_length', sql`length(${t.database}) <= 64`),
  ],
)
export type DatabaseRow = typeof databases.$inferSelect
