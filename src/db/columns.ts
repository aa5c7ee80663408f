import { integer, timestamp, uuid } from 'drizzle-orm/pg-core'

/** The numeric key of a row, as it appears in Application API paths. */
export const id = { id: integer().primaryKey().generatedAlwaysAsIdentity() }

/** An instant with millisecond precision: what a JavaScript Date holds, so that values survive a round trip. */
export const instant = () => timestamp({ withTimezone: true, precision: 3, mode: 'date' })

/** When the row came to be and when it last changed. */
export const times = {
  createdAt: instant().notNull().defaultNow(),
  updatedAt: instant()
    .notNull()
    .defaultNow()
    .$onUpdate(() => new Date()),
}

/** A public random key, version 4: stock Wings refuses any other version for servers. */
export const randomUuid = () => uuid().notNull().unique().defaultRandom()
