import type { CronFields } from '../../api/schedules.ts'

export const presets = ['hourly', 'daily', 'weekly', 'monthly'] as const
export type Preset = (typeof presets)[number]

const isNumber = (field: string) => /^\d{1,2}$/.test(field)

/** Which of the simple plans the fields are; null when they are none. */
export function presetOf({ minute, hour, day_of_month, month, day_of_week }: CronFields): Preset | null {
  if (!isNumber(minute) || month !== '*') return null
  const isEveryDay = day_of_month === '*' && day_of_week === '*'
  if (hour === '*') return isEveryDay ? 'hourly' : null
  if (!isNumber(hour)) return null
  if (isEveryDay) return 'daily'
  if (day_of_month === '*' && isNumber(day_of_week)) return 'weekly'
  return isNumber(day_of_month) && day_of_week === '*' ? 'monthly' : null
}

/** The fields of a simple plan, with the time of the ones before where they name one. */
export function fieldsOf(preset: Preset, before: CronFields): CronFields {
  const kept = (field: string, otherwise: string) => (isNumber(field) ? field : otherwise)
  return {
    minute: kept(before.minute, '0'),
    hour: preset === 'hourly' ? '*' : kept(before.hour, '4'),
    day_of_month: preset === 'monthly' ? kept(before.day_of_month, '1') : '*',
    month: '*',
    day_of_week: preset === 'weekly' ? kept(before.day_of_week, '1') : '*',
  }
}

const twoDigits = (field: string) => field.padStart(2, '0')

/** As inputs of the browser have it: `04:30`. */
export const clockOf = ({ hour, minute }: CronFields): string => `${twoDigits(hour)}:${twoDigits(minute)}`

/** The fields with this time; what an input gives while it is empty changes nothing. */
export function withClock(fields: CronFields, clock: string): CronFields {
  const [hour = '', minute = ''] = clock.split(':')
  if (hour === '' || minute === '') return fields
  return { ...fields, hour: String(Number(hour)), minute: String(Number(minute)) }
}
