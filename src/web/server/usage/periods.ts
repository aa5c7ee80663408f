import { site } from '../../app/site.ts'
import type { Period } from './chart-options.ts'

/** The default comes first. */
export const periodNames = ['24h', '1h', '7d', '30d'] as const
export type PeriodName = (typeof periodNames)[number]
/** The order in which they are offered. */
export const shownPeriods: readonly PeriodName[] = ['1h', '24h', '7d', '30d']

const day = 86_400
const formatter = (options: Intl.DateTimeFormatOptions) => {
  const format = new Intl.DateTimeFormat(site.locale, options)
  return (milliseconds: number) => format.format(milliseconds)
}
const clock = formatter({ timeStyle: 'short' })
const date = formatter({ month: 'short', day: 'numeric' })
const dateAndTime = formatter({ month: 'short', day: 'numeric', hour: 'numeric', minute: '2-digit' })
const daySteps = [1, 2, 3, 5, 7, 10].map((days) => days * day)

/** How a chart shows each period. */
export const periods: Record<PeriodName, Period> = {
  '1h': { seconds: 3600, formatTime: clock },
  '24h': { seconds: day, formatTime: clock, formatPoint: dateAndTime },
  '7d': { seconds: 7 * day, formatTime: date, timeSteps: daySteps, formatPoint: dateAndTime },
  '30d': { seconds: 30 * day, formatTime: date, timeSteps: daySteps, formatPoint: dateAndTime },
}
