const maxDepth = 32
const maxBytes = 8 * 1024
const forbiddenKeys = new Set(['__proto__', 'constructor', 'prototype'])

/** Whether PostgreSQL can store a value as JSON, and its depth is within the limit. */
export function isStorable(value: unknown, depth = 0): boolean {
  if (typeof value === 'string') return !value.includes('\0') && value.isWellFormed()
  if (typeof value !== 'object' || value === null) return true
  if (depth >= maxDepth) return false
  if (Array.isArray(value)) return value.every((member) => isStorable(member, depth + 1))
  return Object.entries(value).every(
    ([key, member]) => !forbiddenKeys.has(key) && isStorable(key, depth) && isStorable(member, depth + 1),
  )
}

/** Returns properties that come from elsewhere as those of an entry; above 8 KiB a marker is in their place. */
export function limitProperties(
  properties: Record<string, unknown> | unknown[] | null,
): Record<string, unknown> {
  const bytes = new TextEncoder().encode(JSON.stringify(properties)).byteLength
  return bytes > maxBytes ? { truncated: true, bytes } : Object.fromEntries(Object.entries(properties ?? {}))
}
