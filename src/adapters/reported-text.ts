const maxVersionLength = 64
const maxNameLength = 64
const maxNames = 100

/** Returns a version as a game reports it, or null without one. */
export const reportedVersion = (value: unknown): string | null => plainText(value, maxVersionLength)

/** Returns the names of players as a game reports them: each once, at most 100, and none that is empty. */
export function reportedNames(values: unknown): string[] {
  const names = (Array.isArray(values) ? values : [])
    .slice(0, 2 * maxNames)
    .map((player: { name?: unknown } | null) => plainText(player?.name, maxNameLength))
  return [...new Set(names.filter((name) => name !== null))].slice(0, maxNames)
}

/** Returns a text without control characters and colours of Minecraft, cut to a length; null when nothing is left. */
function plainText(value: unknown, maxLength: number): string | null {
  if (typeof value !== 'string') return null
  const plain = value
    .slice(0, 4 * maxLength)
    .toWellFormed()
    .replaceAll(/§./gu, '')
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '')
    .trim()
  return Array.from(plain).slice(0, maxLength).join('') || null
}
