import type { CronExpression } from '../../src/domain/schedules/cron.ts'

const minute = 60_000
const day = 24 * 60

/** Formats instants as local time of the zone: `2031-03-30 02:30`. */
function wallClock(timezone: string): (at: number) => string {
  const format = new Intl.DateTimeFormat('sv-SE', {
    timeZone: timezone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
  })
  return (at) => format.format(at)
}

/** Checks whether a number matches a field that is `*`, a step from 0, or a list of numbers. */
function fits(field: string, value: number): boolean {
  if (field === '*') return true
  if (field.startsWith('*/')) return value % Number(field.slice(2)) === 0
  return field.split(',').some((each) => Number(each) === value)
}

const weekdayOf = (wall: string) => new Date(`${wall.slice(0, 10)}T00:00:00Z`).getUTCDay()
const isOnDay = ({ dayOfWeek }: CronExpression, wall: string) => fits(dayOfWeek, weekdayOf(wall))

/**
 * When a schedule comes in the days after an instant, found by looking at the clock every minute: another way
 * to the same times. Months and days of the month are not looked at.
 */
export function comingRuns(times: CronExpression, after: Date, days: number): Date[] {
  const first = Math.floor(after.getTime() / minute) - day
  const shown = wallClock(times.timezone)
  const looks = Array.from({ length: (days + 2) * day }, (_, passed) => {
    const at = (first + passed) * minute
    return { at, wall: shown(at) }
  })
  const isFixed = !/[*/]/.test(times.minute) && !/[*/]/.test(times.hour)
  const found = isFixed ? fixedRuns(times, looks) : looks.filter(({ wall }) => isNow(times, wall))
  const end = after.getTime() + days * day * minute
  const instants = new Set(found.map(({ at }) => at).filter((at) => at > after.getTime() && at <= end))
  return [...instants].toSorted((one, other) => one - other).map((at) => new Date(at))
}

type Look = { at: number; wall: string }

const isNow = (times: CronExpression, wall: string) =>
  isOnDay(times, wall) &&
  fits(times.hour, Number(wall.slice(11, 13))) &&
  fits(times.minute, Number(wall.slice(14, 16)))

/** Lists each time of each day once: when the clock first shows it, or first shows a later one. */
function fixedRuns(times: CronExpression, looks: Look[]): Look[] {
  // The last day is not whole, and what the clock leaps over may be made up for on the next.
  const dates = [...new Set(looks.map(({ wall }) => wall.slice(0, 10)))].slice(1, -1)
  return dates
    .filter((date) => isOnDay(times, date))
    .flatMap((date) => fixedTimes(times).map((time) => looks.find(({ wall }) => wall >= `${date} ${time}`)))
    .filter((look) => look !== undefined)
}

const fixedTimes = ({ hour, minute: minutes }: CronExpression) =>
  hour.split(',').flatMap((h) => minutes.split(',').map((m) => `${h.padStart(2, '0')}:${m.padStart(2, '0')}`))
