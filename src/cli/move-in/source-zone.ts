const wallPattern = /^(\d{4})-(\d\d)-(\d\d)[ T](\d\d):(\d\d):(\d\d)/
const offsetPattern = /^([+-])(\d\d?):(\d\d)$/
const minute = 60_000

/** Whether a text names a zone whose dates can be read: `+02:00`, `UTC`, `Europe/Berlin`. */
export function isZone(zone: string): boolean {
  if (offsetPattern.test(zone)) return true
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }).format(0) !== ''
  } catch {
    return false
  }
}

/**
 * Returns a date of a zone in UTC, as `YYYY-MM-DD HH:MM:SS`. The zero date and what is no date stay. Of two equal times
 * at the end of summer it takes the first.
 */
export function utcOf(text: string, zone: string): string {
  const found = wallPattern.exec(text)
  if (!found || text.startsWith('0000')) return text
  if (isUtc(zone)) return found[0].replace('T', ' ')
  const [year = 0, month = 0, day = 0, hour = 0, minutes = 0, seconds = 0] = found.slice(1).map(Number)
  const wall = Date.UTC(year, month - 1, day, hour, minutes, seconds)
  const instant = wall - offsetOfWall(wall, zone)
  return new Date(instant).toISOString().slice(0, 19).replace('T', ' ')
}

const isUtc = (zone: string) => /^(?:utc|[+-]00?:00)$/i.test(zone)

/** Offsets by zone and half hour of the wall clock: the rows of a table are mostly near each other. */
const offsets = new Map<string, number>()
const maxOffsets = 20_000

function offsetOfWall(wall: number, zone: string): number {
  const [, sign, hours, minutes] = offsetPattern.exec(zone) ?? []
  if (sign) return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * minute
  const key = `${zone} ${Math.floor(wall / (15 * minute))}`
  const known = offsets.get(key)
  if (known !== undefined) return known
  if (offsets.size >= maxOffsets) offsets.clear()
  // With the offset of the day before, the first of two equal times is found.
  const offset = offsetAt(wall - offsetAt(wall - 24 * 60 * minute, zone), zone)
  offsets.set(key, offset)
  return offset
}

const formats = new Map<string, Intl.DateTimeFormat>()

function offsetAt(instant: number, zone: string): number {
  const format =
    formats.get(zone) ??
    new Intl.DateTimeFormat('en', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
  formats.set(zone, format)
  const parts = Object.fromEntries(
    format.formatToParts(instant).map(({ type, value }) => [type, Number(value)]),
  )
  const { year = 0, month = 0, day = 0, hour = 0, minute: minutes = 0, second = 0 } = parts
  return Date.UTC(year, month - 1, day, hour, minutes, second) - Math.floor(instant / 1000) * 1000
}
