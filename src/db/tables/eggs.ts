import { type AnyPgColumn, boolean, index, integer, json, pgTable, text } from 'drizzle-orm/pg-core'
import { id, randomUuid, times } from '../columns.ts'
import { nests } from './nests.ts'

/** What an egg says about one configuration file: its parser and the values to write. */
export type EggConfigFile = { parser?: string; find?: Record<string, unknown> }
/** When a started server counts as running. */
export type EggConfigStartup = { done?: string | string[]; strip_ansi?: boolean }

/**
 * Server templates. Columns that hold JSON are `json`, not `jsonb`: the order of keys is part of
 * their meaning (the first docker image is the default, files are written in order).
 */
export const eggs = pgTable(
  'eggs',
  {
    ...id,
    uuid: randomUuid(),
    nestId: integer()
      .notNull()
      .references(() => nests.id, { onDelete: 'restrict' }),
    author: text().notNull(),
    name: text().notNull(),
    description: text(),
    features: json().$type<string[]>(),
    /** Label → image. */
    dockerImages: json().notNull().$type<Record<string, string>>(),
    fileDenylist: text().array().notNull().default([]),
    updateUrl: text(),
    configFiles: json().$type<Record<string, EggConfigFile>>(),
    configStartup: json().$type<EggConfigStartup>(),
    configLogs: json().$type<Record<string, unknown>>(),
    configStop: text(),
    /** The egg whose configuration fills the columns that are null here. */
    configFrom: integer().references((): AnyPgColumn => eggs.id, { onDelete: 'set null' }),
    startup: text().notNull(),
    scriptContainer: text().notNull().default('alpine:3.4'),
    copyScriptFrom: integer().references((): AnyPgColumn => eggs.id, { onDelete: 'set null' }),
    scriptEntry: text().notNull().default('ash'),
    scriptIsPrivileged: boolean().notNull().default(true),
    scriptInstall: text(),
    /** Protocol by which its games tell who plays, as gamedig names them; guessed from the egg while null. */
    queryGame: text(),
    forceOutgoingIp: boolean().notNull().default(false),
    ...times,
  },
  (t) => [index().on(t.nestId), index().on(t.configFrom), index().on(t.copyScriptFrom)],
)
export type Egg = typeof eggs.$inferSelect
