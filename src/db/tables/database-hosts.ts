import { sql } from 'drizzle-orm'
import { check, index, integer, pgTable, text } from 'drizzle-orm/pg-core'
import { id, times } from '../columns.ts'
import { nodes } from './nodes.ts'

/** MariaDB and MySQL servers on which databases of game servers are created. */
export const databaseHosts = pgTable(
  'database_hosts',
  {
    ...id,
    name: text().notNull(),
    host: text().notNull(),
    port: integer().notNull().default(3306),
    username: text().notNull(),
    /** Encrypted. */
    password: text().notNull(),
    maxDatabases: integer(),
    /** Preferred for databases of servers on this node. */
    nodeId: integer().references(() => nodes.id, { onDelete: 'set null' }),
    ...times,
  },
  (t) => [index().on(t.nodeId), check('database_hosts_port', sql`${t.port} between 1 and 65535`)],
)
export type DatabaseHost = typeof databaseHosts.$inferSelect
