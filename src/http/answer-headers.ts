import type { Context } from 'hono'

/** Headers of an answer by their names in lower case. What a handler sets itself takes precedence. */
export type AnswerHeaders = Record<string, string>

/** Names the variable with the headers of the answer, where the platform writes them itself. */
const headersKey = 'answerHeaders'

/** Keeps the headers of the answer apart from it, for a platform that writes them itself. */
export const keepAnswerHeaders = (c: Context, headers: AnswerHeaders): void => c.set(headersKey, headers)

/**
 * Sets a header of the answer without making it a `Headers` object, which costs more than everything else about an
 * answer, where the platform can write a plain one.
 */
export function setAnswerHeader(c: Context, name: string, value: string): void {
  const headers = c.get(headersKey) as AnswerHeaders | undefined
  if (headers) headers[name] = value
  else c.header(name, value)
}
