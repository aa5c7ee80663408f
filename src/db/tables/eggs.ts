import { type AnyPgColumn, boolean, index, integer, json, pgTable, text } from 'drizzle-orm/pg-core'
import { id, randomUuid, times } from '../columns.ts'
import { nests } from './nests.ts'

/** A configuration file of an egg: its parser and the values to write. */
export type EggConfigFile = { parser?: string; find?: Record<string, unknown> }
/** A console command that an egg offers to users of its servers. */
export type EggSnippet = { name: string; command: string }
/** When a starting server counts as running. */
export type EggConfigStartup = { done?: string | string[]; strip_ansi?: boolean }

/** Drawings by what a game is about. */
export const gameIcons = [
  'blocks',
  'tree',
  'gear',
  'ship',
  'hammer',
  'target',
  'claws',
  'voice',
  'wheel',
  'code',
  'network',
  'pad',
] as const
export type GameIcon = (typeof gameIcons)[number]

/**
 * The keys of an imported object in their order: null where an export writes the key with its current value,
 * `keys` where it writes an object, and `value` of a key that no column has.
 */
export type EggKeys = { [key: string]: null | { keys: EggKeys } | { value: unknown } }
/** The keys of an imported egg document; of variables by their names, in order. */
export type EggLayout = { document: EggKeys; variables: [envVariable: string, EggKeys][] }

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
    /** Image by label. */
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
    /** Status protocol of its games, as gamedig names it; derived from the egg while null. */
    queryGame: text(),
    /** The drawing of its game; guessed from the names of egg and game while null. */
    icon: text({ enum: gameIcons }),
    forceOutgoingIp: boolean().notNull().default(false),
    commandSnippets: json().$type<EggSnippet[]>().notNull().default([]),
    /** Keys of the imported document in their order, with values that have no column; null for eggs of this panel. */
    documentLayout: json().$type<EggLayout>(),
    /** Checksum of the content that the seed wrote; an egg with another content was edited. */
    seededChecksum: text(),
    ...times,
  },
  (t) => [index().on(t.nestId), index().on(t.configFrom), index().on(t.copyScriptFrom)],
)
export type Egg = typeof eggs.$inferSelect
