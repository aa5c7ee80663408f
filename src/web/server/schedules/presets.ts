import type { CronFields } from '../../api/schedules.ts'

export const presets = ['hourly', 'daily', 'weekly', 'monthly'] as const
export type Preset = (typeof presets)[number]

const isNumber = (field: string) => /^\d{1,2}$/.test(field)

/** Returns the preset that the fields match; null when there is none. */
export function presetOf({ minute, hour, day_of_month, month, day_of_week }: CronFields): Preset | null {
  if (!isNumber(minute) || month !== '*') return null
  const isEveryDay = day_of_month === '*' && day_of_week === '*'
  if (hour === '*') return isEveryDay ? 'hourly' : null
  if (!isNumber(hour)) return null
  if (isEveryDay) return 'daily'
  if (day_of_month === '*' && isNumber(day_of_week)) return 'weekly'
  return isNumber(day_of_month) && day_of_week === '*' ? 'monthly' : null
}

/** Returns the fields of a preset; keeps the time and day of the previous ones where it can. */
export function presetFields(preset: Preset, previous: CronFields): CronFields {
  const keepNumber = (field: string, fallback: string) => (isNumber(field) ? field : fallback)
  return {
    minute: keepNumber(previous.minute, '0'),
    hour: preset === 'hourly' ? '*' : keepNumber(previous.hour, '4'),
    day_of_month: preset === 'monthly' ? keepNumber(previous.day_of_month, '1') : '*',
    month: '*',
    day_of_week: preset === 'weekly' ? keepNumber(previous.day_of_week, '1') : '*',
  }
}

const twoDigits = (field: string) => field.padStart(2, '0')

/** Returns the time as time inputs use it: `04:30`. */
export const timeOfDay = ({ hour, minute }: CronFields): string => `${twoDigits(hour)}:${twoDigits(minute)}`

/** Returns the fields with another time; an incomplete time changes nothing. */
export function withTimeOfDay(fields: CronFields, time: string): CronFields {
  const [hour = '', minute = ''] = time.split(':')
  if (hour === '' || minute === '') return fields
  return { ...fields, hour: String(Number(hour)), minute: String(Number(minute)) }
}
