import * as z from 'zod'

/** The most entries which one request may name. Rule DO-3. */
const mostEntries = 1000

/** Path or name of an entry, blanks at its ends included; one of blanks alone counts as left out. */
export const entryPath = () => z.string().regex(/\S/, 'required')

/** Some entries, at least one. */
export const entriesOf = <Entry extends z.ZodType>(entry: Entry) =>
  z.array(entry).min(1, 'required').max(mostEntries, 'max')
