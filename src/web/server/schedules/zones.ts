import { site } from '../../app/site.ts'

/** The time zone of the browser. */
export const localZone = Intl.DateTimeFormat().resolvedOptions().timeZone

/** Lists time zones; `currentZone` is included even if the browser does not list it. */
export const listZones = (currentZone: string): string[] =>
  [...new Set([...Intl.supportedValuesOf('timeZone'), 'UTC', localZone, currentZone])].toSorted()

/** Returns time zones by region; `currentZone` is included even if the browser does not list it. */
export function zonesByRegion(currentZone: string): Map<string, { zone: string; city: string }[]> {
  const regions = new Map<string, { zone: string; city: string }[]>()
  for (const zone of listZones(currentZone)) {
    const [region = '', ...rest] = zone.split('/')
    const city = rest.length > 0 ? rest.join(' / ') : region
    const key = rest.length > 0 ? region : ''
    regions.set(key, [...(regions.get(key) ?? []), { zone, city: city.replaceAll('_', ' ') }])
  }
  return regions
}

/** Returns the offset of a zone from UTC at an instant: `GMT+2`. */
export function offsetAt(instant: Date, zone: string): string {
  const format = new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'shortOffset' })
  return format.formatToParts(instant).find(({ type }) => type === 'timeZoneName')?.value ?? ''
}

/** Formats a date and time in a zone, with the weekday. */
export const formatInZone = (instant: Date, zone: string): string =>
  new Intl.DateTimeFormat(site.locale, {
    timeZone: zone,
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: 'numeric',
    minute: '2-digit',
  }).format(instant)

/** Returns the names of the weekdays, starting with Sunday. */
export function weekdays(): string[] {
  const format = new Intl.DateTimeFormat(site.locale, { weekday: 'long', timeZone: 'UTC' })
  // 4 January 1970 was a Sunday.
  return Array.from({ length: 7 }, (_, day) => format.format(Date.UTC(1970, 0, 4 + day)))
}
