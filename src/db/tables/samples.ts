import { bigint, index, integer, pgTable, primaryKey, real, smallint } from 'drizzle-orm/pg-core'
import { instant } from '../columns.ts'
import { nodes } from './nodes.ts'
import { servers } from './servers.ts'

/** The samples of an hour as arrays of equal length: one row an hour in place of one a sample. */
const samples = () => ({
  /** The full hour, in UTC. */
  hour: instant().notNull(),
  /** The minute of each sample, ascending. */
  minutes: smallint().array().notNull(),
  /** Percent of one core. */
  cpu: real().array().notNull(),
  memoryBytes: bigint({ mode: 'number' }).array().notNull(),
  diskBytes: bigint({ mode: 'number' }).array().notNull(),
  /** Counters, which begin again with the process. */
  networkRxBytes: bigint({ mode: 'number' }).array().notNull(),
  networkTxBytes: bigint({ mode: 'number' }).array().notNull(),
})

/** Usage of each node, summed over its servers. */
export const nodeSamples = pgTable(
  'node_samples',
  {
    nodeId: integer()
      .notNull()
      .references(() => nodes.id, { onDelete: 'cascade' }),
    ...samples(),
    runningServers: integer().array().notNull(),
  },
  (t) => [primaryKey({ columns: [t.nodeId, t.hour] }), index().on(t.hour)],
)

/** Usage of each server. */
export const serverSamples = pgTable(
  'server_samples',
  {
    serverId: integer()
      .notNull()
      .references(() => servers.id, { onDelete: 'cascade' }),
    ...samples(),
    /** Positions in `processStates`. */
    states: smallint().array().notNull(),
    /** Seconds since the process started. */
    uptimes: integer().array().notNull(),
    /** Players online where the game had just been asked; samples of before the column have none. */
    players: integer().array(),
  },
  (t) => [primaryKey({ columns: [t.serverId, t.hour] }), index().on(t.hour)],
)
