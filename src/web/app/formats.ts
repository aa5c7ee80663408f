import { site } from './site.ts'

const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB']

/** Formats bytes with a binary unit and at most three digits that count: `1.5 GiB`, `507 MiB`. */
export function formatBytes(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10))
  const amount = bytes / 1024 ** power
  const digits = power === 0 || amount >= 100 ? 0 : amount < 10 ? 2 : 1
  return `${formatNumber(amount, digits)} ${units[power]}`
}

/** Formats MiB, the unit of server limits. */
export const formatMebibytes = (mebibytes: number): string => formatBytes(mebibytes * 1024 ** 2)

/** Formats a number with at most `digits` fraction digits. */
export const formatNumber = (value: number, digits = 0): string =>
  numberFormat({ maximumFractionDigits: digits }).format(value)

/** Keeps what was made for the same options: a formatter takes a hundred times as long to make as to use. */
function cachedFormat<Options, Format>(make: (options: Options) => Format): (options: Options) => Format {
  const made = new Map<string, Format>()
  return (options) => {
    const key = JSON.stringify(options)
    const format = made.get(key) ?? make(options)
    made.set(key, format)
    return format
  }
}

const numberFormat = cachedFormat(
  (options: Intl.NumberFormatOptions) => new Intl.NumberFormat(site.locale, options),
)
const dateFormat = cachedFormat(
  (options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat(site.locale, options),
)
const relativeTimeFormat = cachedFormat(
  (options: Intl.RelativeTimeFormatOptions) => new Intl.RelativeTimeFormat(site.locale, options),
)

/** Formats percent of one CPU core: `150%`. */
export const formatPercent = (value: number, digits = 0): string =>
  numberFormat({ style: 'percent', maximumFractionDigits: digits }).format(value / 100)

/** Formats a date and time in the local time zone. */
export const formatDateTime = (instant: string | Date): string =>
  dateFormat({ dateStyle: 'medium', timeStyle: 'medium' }).format(new Date(instant))

/** Formats a time of day: `16:05`. */
export const formatTime = (instant: string | Date): string =>
  dateFormat({ timeStyle: 'short' }).format(new Date(instant))

const relativeUnits: [unit: Intl.RelativeTimeFormatUnit, seconds: number][] = [
  ['year', 31_557_600],
  ['month', 2_629_800],
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
]

/** Formats a time relative to now: `3 minutes ago`. */
export function formatRelative(instant: string | Date, now = Date.now()): string {
  const seconds = Math.round((new Date(instant).getTime() - now) / 1000)
  const [unit, length] = relativeUnits.find(([, size]) => Math.abs(seconds) >= size) ?? ['second' as const, 1]
  return relativeTimeFormat({ numeric: 'auto' }).format(Math.trunc(seconds / length), unit)
}

/** Formats a duration by its two largest units: `2d 3h`. */
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
    .map(([value, unit]) => numberFormat({ style: 'unit', unit, unitDisplay: 'narrow' }).format(value))
    .join(' ')
}
