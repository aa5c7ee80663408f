/** Fields that a panel changes in use, and those that name it. */
const ownFields = new Set(['last_used_at', 'updated_at', 'links', 'request_id'])
/** What tells items of a list apart, the first that all of them have. */
const identities = ['uuid', 'identifier', 'id', 'env_variable', 'username']

/**
 * Lists the fields of the old panel's answer that another one lacks or has with another value, as `data[3].name`. Fields
 * that only the new one has are none; two spellings of one instant are equal, and so is one path at both panels; items of lists are matched by what
 * identifies them.
 */
export function differingFields(old: unknown, current: unknown, path = ''): string[] {
  if (Array.isArray(old)) return differingItems(old, current, path)
  if (isObject(old)) {
    if (!isObject(current)) return [path || '(answer)']
    return Object.entries(old).flatMap(([name, value]) => {
      if (ownFields.has(name)) return []
      const inner = path === '' ? name : `${path}.${name}`
      return name in current ? differingFields(value, current[name], inner) : [inner]
    })
  }
  return isSameValue(old, current) ? [] : [path || '(answer)']
}

function differingItems(old: unknown[], current: unknown, path: string): string[] {
  if (!Array.isArray(current)) return [path]
  const identity = identities.find((name) => [...old, ...current].every((item) => identityOf(item, name)))
  if (!identity) {
    const more = current.length > old.length ? [`${path}[${old.length}]`] : []
    return [...old.flatMap((item, n) => differingFields(item, current[n], `${path}[${n}]`)), ...more]
  }
  const byIdentity = new Map(current.map((item) => [identityOf(item, identity), item]))
  const known = new Set(old.map((item) => identityOf(item, identity)))
  const added = [...byIdentity.keys()].filter((name) => !known.has(name)).map((name) => `${path}[${name}]`)
  const differing = old.flatMap((item) => {
    const name = identityOf(item, identity)
    return differingFields(item, byIdentity.get(name), `${path}[${name}]`)
  })
  return [...differing, ...added]
}

/** Returns what identifies an item or its attributes, or undefined. */
function identityOf(item: unknown, name: string): string | undefined {
  if (!isObject(item)) return undefined
  const value = (isObject(item.attributes) ? item.attributes : item)[name]
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const instantPattern = /^\d{4}-\d{2}-\d{2}T/

function isSameValue(old: unknown, current: unknown): boolean {
  if (old === current) return true
  if (typeof old !== 'string' || typeof current !== 'string') return false
  if (instantPattern.test(old) && instantPattern.test(current)) return Date.parse(old) === Date.parse(current)
  return URL.canParse(old) && URL.canParse(current) && pathOf(old) === pathOf(current)
}

/** Each panel names itself in the addresses of its lists. */
const pathOf = (address: string) => new URL(address).href.slice(new URL(address).origin.length)
