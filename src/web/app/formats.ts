import { site } from './site.ts'

const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB']

/** Bytes as people read them: `1.5 GiB`. */
export function formatBytes(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10))
  const digits = power === 0 ? 0 : bytes / 1024 ** power < 10 ? 2 : 1
  return `${formatNumber(bytes / 1024 ** power, digits)} ${units[power]}`
}

/** MiB, as limits of servers are given. */
export const formatMebibytes = (mebibytes: number): string => formatBytes(mebibytes * 1024 ** 2)

/** At most so many digits after the point. */
export function formatNumber(value: number, digits = 0): string {
  const known = numbers.get(digits)
  const format = known ?? new Intl.NumberFormat(site.locale, { maximumFractionDigits: digits })
  if (!known) numbers.set(digits, format)
  return format.format(value)
}

// Formats are made once: lists show many of each.
const numbers = new Map<number, Intl.NumberFormat>()

/** Percent of one core: `150%`. */
export const formatPercent = (value: number, digits = 0): string =>
  new Intl.NumberFormat(site.locale, { style: 'percent', maximumFractionDigits: digits }).format(value / 100)

/** Date and time in the reader's zone. */
export const formatInstant = (instant: string | Date): string => instants.format(new Date(instant))

const instants = new Intl.DateTimeFormat(site.locale, { dateStyle: 'medium', timeStyle: 'medium' })
const relativeTimes = new Intl.RelativeTimeFormat(site.locale, { numeric: 'auto' })

const steps: [unit: Intl.RelativeTimeFormatUnit, seconds: number][] = [
  ['year', 31_557_600],
  ['month', 2_629_800],
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
]

/** How long ago or ahead that is: `3 minutes ago`. */
export function formatRelative(instant: string | Date, now = Date.now()): string {
  const seconds = Math.round((new Date(instant).getTime() - now) / 1000)
  const [unit, length] = steps.find(([, size]) => Math.abs(seconds) >= size) ?? ['second' as const, 1]
  return relativeTimes.format(Math.trunc(seconds / length), unit)
}

/** A length of time: `2d 3h 4m`. The two largest units that are not zero. */
export function formatDuration(milliseconds: number): string {
  const seconds = Math.floor(milliseconds / 1000)
  const parts: [amount: number, unit: string][] = [
    [Math.floor(seconds / 86_400), 'day'],
    [Math.floor(seconds / 3600) % 24, 'hour'],
    [Math.floor(seconds / 60) % 60, 'minute'],
    [seconds % 60, 'second'],
  ]
  const from = parts.findIndex(([amount]) => amount > 0)
  return parts
    .slice(from < 0 ? 3 : from, (from < 0 ? 3 : from) + 2)
    .map(([value, unit]) =>
      new Intl.NumberFormat(site.locale, { style: 'unit', unit, unitDisplay: 'narrow' }).format(value),
    )
    .join(' ')
}
