import { sql } from 'drizzle-orm'
import { integer, timestamp, uuid } from 'drizzle-orm/pg-core'

/** The numeric key of a row, as in the paths of the Application API. */
export const id = { id: integer().primaryKey().generatedAlwaysAsIdentity() }

/** An instant with the precision of a JavaScript Date, milliseconds, so that values survive a round trip. */
export const instant = () => timestamp({ withTimezone: true, precision: 3, mode: 'date' })

/** When the row was created and last updated. */
export const times = {
  createdAt: instant().notNull().defaultNow(),
  updatedAt: instant()
    .notNull()
    .defaultNow()
    // A date would be that of the first run of a prepared statement.
    .$onUpdate(() => sql`now()`),
}

/** A public random UUID of version 4: stock Wings refuses other versions for servers. */
export const randomUuid = () => uuid().notNull().unique().defaultRandom()
