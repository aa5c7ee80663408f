import * as z from 'zod'

/** Entries that one request may name (DO-3). */
const maxEntries = 1000

/** A path or name of an entry, kept with its outer blanks; blanks alone count as missing. */
export const entryPath = () => z.string().regex(/\S/, 'required')

/** A list of at least one entry. */
export const entryList = <Entry extends z.ZodType>(entry: Entry) =>
  z.array(entry).min(1, 'required').max(maxEntries, 'max')
