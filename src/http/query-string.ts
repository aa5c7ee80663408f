import { badRequest } from '../errors.ts'
import { forbiddenKeys, normalise } from './json-body.ts'

/** The same with its texts as they were sent: blanks are part of names of files. */
export function parseExactQuery(flat: unknown): Record<string, unknown> {
  // For what it refuses: what it trims is not wanted.
  parseQuery(flat)
  return Object.fromEntries(
    Object.entries(flat as Record<string, string | string[]>).map(([key, value]) => [
      key,
      [value].flat().at(-1),
    ]),
  )
}

const keyPattern = /^([\w*]+)((?:\[[^[\]]*\])*)$/

/**
 * The flat query as an object: `filter[name]=x` nests, `include[]=a` makes a list, of equal names
 * the last wins. Normalised as bodies are; keys that are no names are left out.
 */
export function parseQuery(flat: unknown): Record<string, unknown> {
  const query: Record<string, unknown> = {}
  for (const [key, values] of Object.entries(flat as Record<string, string | string[]>)) {
    const match = keyPattern.exec(key)
    if (!match?.[1]) continue
    const path = [match[1], ...[...(match[2] ?? '').matchAll(/\[([^[\]]*)\]/g)].map(([, name]) => name ?? '')]
    if (path.length > 3) throw badRequest('The query is nested too deeply.')
    if (path.some((name) => forbiddenKeys.has(name)))
      throw badRequest('The query has a key that is not allowed.')
    for (const value of [values].flat()) place(query, path, value)
  }
  return normalise(query) as Record<string, unknown>
}

function place(into: Record<string, unknown> | unknown[], path: string[], value: string): void {
  const [name = '', ...rest] = path
  if (Array.isArray(into)) {
    into.push(value)
    return
  }
  if (rest.length === 0) {
    into[name] = value
    return
  }
  const isList = rest[0] === '' || /^\d+$/.test(rest[0] ?? '')
  const existing = Object.hasOwn(into, name) ? into[name] : null
  const child = typeof existing === 'object' && existing !== null ? existing : isList ? [] : {}
  into[name] = child
  place(child as Record<string, unknown> | unknown[], rest, value)
}
