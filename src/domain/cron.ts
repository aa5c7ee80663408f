import { Cron } from 'croner'
import { invalid } from '../errors.ts'

/** The five fields of a cron expression, and the IANA zone in which it is read. */
export type CronTimes = {
  minute: string
  hour: string
  dayOfMonth: string
  month: string
  dayOfWeek: string
  timezone: string
}

/** The fields by their names on the wire, in the order of an expression, with the largest number of each. */
const fields = [
  { name: 'minute', key: 'minute', largest: 59 },
  { name: 'hour', key: 'hour', largest: 23 },
  { name: 'day_of_month', key: 'dayOfMonth', largest: 31 },
  { name: 'month', key: 'month', largest: 12 },
  { name: 'day_of_week', key: 'dayOfWeek', largest: 7 },
] as const

/** Years within which a time must come: 29 February always does. */
const horizon = 8

/**
 * The first instants after `after` that the fields name, each within eight years of the one before. Fixed times,
 * which are minutes and hours without `*` and `/`, come once a day whatever the clock does: those it leaps over
 * come together right after, those it repeats come the first time. Others follow the clock: what it leaps over is
 * left out, what it repeats comes again. Spec: Schedule, next-run time.
 */
export function nextRuns(times: CronTimes, after: Date, count: number): Date[] {
  const runs: Date[] = []
  for (let last: Date | null = after; runs.length < count;) {
    last = parse(times, last).nextRun(last)
    if (!last) break
    runs.push(last)
  }
  return runs
}

/** The first of them. Throws when there is none, which `refuseImpossibleTimes` keeps out. */
export function nextRun(times: CronTimes, after: Date): Date {
  const [next] = nextRuns(times, after, 1)
  if (!next) throw new Error('A schedule has times that never come.')
  return next
}

/** The fields name a time that comes. Refuses with 422 on the field that does not, a zone that is unknown, and 31 February. */
export function refuseImpossibleTimes(times: CronTimes, now: Date): void {
  if (!isTimezone(times.timezone))
    throw invalid([
      { field: 'timezone', rule: 'timezone', detail: 'The timezone field must name an IANA zone.' },
    ])
  const failures = fields.filter(({ key }, at) => !isCronField(times[key], at))
  if (failures.length > 0) {
    const detail = (name: string) => `The ${name} field must be one field of a cron expression.`
    throw invalid(failures.map(({ name }) => ({ field: name, rule: 'cron', detail: detail(name) })))
  }
  if (nextRuns(times, now, 1).length === 0) {
    const detail = 'The day_of_month field names a day that does not come within eight years.'
    throw invalid([{ field: 'day_of_month', rule: 'cron', detail }])
  }
}

/** The years are part of the expression: without them the search for a time that never comes takes seconds. */
function parse(times: CronTimes, after: Date): Cron {
  const year = after.getUTCFullYear()
  const parts = fields.map(({ key, largest }) => normalised(times[key], largest))
  // It may be New Year's Eve where the zone is.
  return new Cron(['0', ...parts, `${year - 1}-${year + horizon}`].join(' '), {
    mode: '7-part',
    timezone: zoneNamed(times.timezone),
    fixedTimeRule: 'no-wildcard',
  })
}

/** `5/15` is every fifteenth from the fifth on, as other readers of cron expressions have it. */
const normalised = (field: string, largest: number) =>
  field.replace(/(^|,)(\d{1,2})\/(\d{1,2})(?=,|$)/g, `$1$2-${largest}/$3`)

function isCronField(field: string, at: number): boolean {
  if (!/^[\w*?,/#+-]{1,191}$/.test(field)) return false
  const expression = fields.map(({ largest }, other) => (other === at ? normalised(field, largest) : '*'))
  try {
    return new Cron(expression.join(' '), { mode: '5-part', timezone: 'UTC' }).getPattern() !== undefined
  } catch {
    return false
  }
}

function isTimezone(name: string): boolean {
  if (!/^[A-Za-z][\w+/-]{0,63}$/.test(name)) return false
  try {
    return zoneNamed(name) !== ''
  } catch {
    return false
  }
}

/** Names of zones as they were spelt, and what they are called. */
const zones = new Map<string, string>()
const mostZones = 1000

/** The one name of a zone: its readers are kept for ever, and a name can be spelt in thousands of ways. Throws when there is none. */
function zoneNamed(name: string): string {
  const known = zones.get(name)
  if (known !== undefined) return known
  const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions()
  if (zones.size >= mostZones) zones.clear()
  zones.set(name, timeZone)
  return timeZone
}
