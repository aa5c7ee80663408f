import { Cron } from 'croner'
import { invalid } from '../../errors.ts'
import { canonicalTimezone, isTimezone } from '../timezones.ts'
import { invalidField } from '../validation.ts'

/** The five fields of a cron expression and the IANA time zone they are read in. */
export type CronExpression = {
  minute: string
  hour: string
  dayOfMonth: string
  month: string
  dayOfWeek: string
  timezone: string
}

/** The fields by their API names, in the order of an expression, with their largest numbers. */
const fields = [
  { name: 'minute', key: 'minute', max: 59 },
  { name: 'hour', key: 'hour', max: 23 },
  { name: 'day_of_month', key: 'dayOfMonth', max: 31 },
  { name: 'month', key: 'month', max: 12 },
  { name: 'day_of_week', key: 'dayOfWeek', max: 7 },
] as const

/** Years within which a next run must exist: 29 February always occurs (DO-4). */
const maxYearsAhead = 8

/**
 * Finds the first `count` runs after `after`, each within eight years of the one before. Fixed times (no `*` and
 * no `/` in minute and hour) run once on the day of a clock change: after the gap, or at the first of two equal
 * times. Other times follow the clock: skipped ones are left out, repeated ones run again. Spec:
 * docs/schedules.md#times.
 */
export function nextRuns(cron: CronExpression, after: Date, count: number): Date[] {
  const runs: Date[] = []
  for (let last: Date | null = after; runs.length < count;) {
    last = toCron(cron, last).nextRun(last)
    if (!last) break
    runs.push(last)
  }
  return runs
}

/** Finds the next run. Throws when there is none, which `requireValidCron` prevents. */
export function nextRun(cron: CronExpression, after: Date): Date {
  const [next] = nextRuns(cron, after, 1)
  if (!next) throw new Error('A schedule has times that never come.')
  return next
}

/** Refuses with 422 invalid fields, an unknown time zone, and times that never come, such as 31 February. */
export function requireValidCron(cron: CronExpression, now: Date): void {
  if (!isTimezone(cron.timezone))
    throw invalid([
      { field: 'timezone', rule: 'timezone', detail: 'The timezone field must be an IANA time zone.' },
    ])
  const failures = fields.filter(({ key }, at) => !isValidField(cron[key], at))
  if (failures.length > 0) {
    const detail = (name: string) => `The ${name} field must be a valid field of a cron expression.`
    throw invalid(failures.map(({ name }) => ({ field: name, rule: 'cron', detail: detail(name) })))
  }
  if (nextRuns(cron, now, 1).length === 0) {
    const detail = 'The day_of_month field must be a day that occurs within eight years.'
    throw invalidField('day_of_month', 'cron', detail, { reason: 'day_never_comes' })
  }
}

/** Limits the years of the expression: otherwise the search for a time that never comes takes seconds. */
function toCron(cron: CronExpression, after: Date): Cron {
  const year = after.getUTCFullYear()
  const parts = fields.map(({ key, max }) => normalizeField(cron[key], max))
  // It may still be the previous year in that zone.
  return new Cron(['0', ...parts, `${year - 1}-${year + maxYearsAhead}`].join(' '), {
    mode: '7-part',
    timezone: canonicalTimezone(cron.timezone),
    fixedTimeRule: 'no-wildcard',
  })
}

/** Expands `5/15` to every fifteenth from the fifth on, as other cron parsers read it. */
const normalizeField = (field: string, max: number) =>
  field.replace(/(^|,)(\d{1,2})\/(\d{1,2})(?=,|$)/g, `$1$2-${max}/$3`)

function isValidField(field: string, at: number): boolean {
  if (!/^[\w*?,/#+-]{1,191}$/.test(field)) return false
  const expression = fields.map(({ max }, other) => (other === at ? normalizeField(field, max) : '*'))
  try {
    return new Cron(expression.join(' '), { mode: '5-part', timezone: 'UTC' }).getPattern() !== undefined
  } catch {
    return false
  }
}
