import { badRequest } from '../errors.ts'
import { forbiddenKeys, maxDepth, maxKeys } from './normalise.ts'

/** An object or a list that is being built; `nextIndex` is where `[]` adds. */
type Branch = { members: Map<string, Branch | string>; nextIndex: number }

const namePattern = /^([^[\]]+)((?:\[[^[\]]*\])*)$/

/**
 * Parses the fields of a query or a form to an object: `limits[memory]=1` nests, `files[]=a` and `files[0]=a` make a
 * list, the last of equal names wins. Leaves out names that cannot be read, or refuses them when `isStrict`.
 * Refuses with 400 more levels, more fields and other keys than a JSON body may have.
 */
export function parseBracketNames(
  fields: Iterable<readonly [name: string, value: string]>,
  { isStrict }: { isStrict: boolean },
): Record<string, unknown> {
  const root: Branch = { members: new Map(), nextIndex: 0 }
  let count = 0
  for (const [name, value] of fields) {
    count += 1
    if (count > maxKeys) throw badRequest('request_malformed', 'The request has too many members.')
    const path = parseName(name)
    if (path) assign(root, path, value)
    else if (isStrict)
      throw badRequest('request_malformed', 'The request has a field whose name cannot be read.')
  }
  return Object.fromEntries([...root.members].map(([name, member]) => [name, valueOf(member)]))
}

/** Splits `a[b][]` into its segments; null when the brackets do not fit. */
function parseName(name: string): string[] | null {
  const [, first, brackets = ''] = namePattern.exec(name) ?? []
  if (first === undefined) return null
  const path = brackets === '' ? [first] : [first, ...brackets.slice(1, -1).split('][')]
  if (path.length > maxDepth) throw badRequest('request_malformed', 'The request is nested too deeply.')
  if (path.some((segment) => forbiddenKeys.has(segment)))
    throw badRequest('request_malformed', 'The request has a key that is not allowed.')
  return path
}

function assign(branch: Branch, [segment = '', ...rest]: string[], value: string): void {
  const name = segment === '' ? String(branch.nextIndex) : segment
  if (isIndex(name)) branch.nextIndex = Math.max(branch.nextIndex, Number(name) + 1)
  if (rest.length === 0) {
    branch.members.set(name, value)
    return
  }
  const existing = branch.members.get(name)
  const child: Branch = typeof existing === 'object' ? existing : { members: new Map(), nextIndex: 0 }
  branch.members.set(name, child)
  assign(child, rest, value)
}

const isIndex = (name: string) => /^\d{1,9}$/.test(name)

/** Turns a branch with only numbers as names into a list, and any other one into an object. */
function valueOf(member: Branch | string): unknown {
  if (typeof member === 'string') return member
  const entries = [...member.members]
  if (entries.every(([name]) => isIndex(name))) return entries.map(([, value]) => valueOf(value))
  return Object.fromEntries(entries.map(([name, value]) => [name, valueOf(value)]))
}
