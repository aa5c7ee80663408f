import * as z from 'zod'

const notBlank = { pattern: '\\S' }
const line = (maximum: number) => z.string().trim().min(1, 'required').max(maximum, 'max')

/** A name and one line for the console; control characters could hide a second command. */
export const SnippetFields = () =>
  z.object({
    name: line(60)
      .regex(/^\P{Cc}*$/u, 'regex')
      .meta(notBlank),
    command: line(2048)
      .regex(/^(?:\t|\P{Cc})*$/u, 'regex')
      .meta(notBlank),
  })
