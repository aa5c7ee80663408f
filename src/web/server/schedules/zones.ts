import { site } from '../../app/site.ts'

/** The zone of the reader's device. */
export const ownZone = Intl.DateTimeFormat().resolvedOptions().timeZone

/** Zones by their region, with the names of the places; `also` is among them though this browser may not list it. */
export function zonesByRegion(also: string): Map<string, { zone: string; place: string }[]> {
  const names = new Set([...Intl.supportedValuesOf('timeZone'), 'UTC', ownZone, also])
  const regions = new Map<string, { zone: string; place: string }[]>()
  for (const zone of [...names].toSorted()) {
    const [region = '', ...rest] = zone.split('/')
    const place = rest.length > 0 ? rest.join(' / ') : region
    const key = rest.length > 0 ? region : ''
    regions.set(key, [...(regions.get(key) ?? []), { zone, place: place.replaceAll('_', ' ') }])
  }
  return regions
}

/** How far the zone's clock is from UTC at that instant: `GMT+2`. */
export function offsetAt(instant: Date, zone: string): string {
  const format = new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'shortOffset' })
  return format.formatToParts(instant).find(({ type }) => type === 'timeZoneName')?.value ?? ''
}

/** Day and time there, with the day of the week. */
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

/** Names of the days of the week, from Sunday on. */
export function weekdays(): string[] {
  const format = new Intl.DateTimeFormat(site.locale, { weekday: 'long', timeZone: 'UTC' })
  // 4 January 1970 was a Sunday.
  return Array.from({ length: 7 }, (_, day) => format.format(Date.UTC(1970, 0, 4 + day)))
}
