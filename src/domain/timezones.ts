/** Whether a text is the name of a time zone. */
export function isTimezone(name: string): boolean {
  if (!/^[A-Za-z][\w+/-]{0,63}$/.test(name)) return false
  try {
    return canonicalTimezone(name) !== ''
  } catch {
    return false
  }
}

/** Canonical names of time zones by the given spelling. */
const timezoneNames = new Map<string, string>()
const maxTimezoneNames = 1000

/**
 * Returns the canonical name of a time zone: the cron library caches one formatter per spelling forever, and a
 * name has thousands of spellings. Throws for an unknown zone.
 */
export function canonicalTimezone(name: string): string {
  const known = timezoneNames.get(name)
  if (known !== undefined) return known
  const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions()
  if (timezoneNames.size >= maxTimezoneNames) timezoneNames.clear()
  timezoneNames.set(name, timeZone)
  return timeZone
}
