import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type CronExpression, nextRun, nextRuns, requireValidCron } from '../../src/domain/schedules/cron.ts'
import { ApiError } from '../../src/errors.ts'
import { comingRuns } from './wall-clock.ts'
import { generatedRuns, generatedSeed } from '../support/generated-runs.ts'

/** `minute hour day month weekday`, in a zone. */
function times(expression: string, timezone = 'UTC'): CronExpression {
  const [minute = '', hour = '', dayOfMonth = '', month = '', dayOfWeek = ''] = expression.split(' ')
  return { minute, hour, dayOfMonth, month, dayOfWeek, timezone }
}

const runs = (expression: string, zone: string, after: string, count = 3) =>
  nextRuns(times(expression, zone), new Date(after), count).map((run) =>
    run.toISOString().replace(':00.000', ''),
  )

describe('where a clock is put forward', () => {
  it.each([
    // Half past two does not come: it is made up for at three.
    ['30 2 * * *', 'Europe/Berlin', '2031-03-29T12:00:00Z', ['2031-03-30T01:00Z', '2031-03-31T00:30Z']],
    ['30 2 * * *', 'America/New_York', '2031-03-08T12:00:00Z', ['2031-03-09T07:00Z', '2031-03-10T06:30Z']],
    ['15 2 * * *', 'Australia/Lord_Howe', '2031-10-04T12:00:00Z', ['2031-10-04T15:30Z', '2031-10-05T15:15Z']],
    ['30 2 * * *', 'Africa/Casablanca', '2026-03-21T12:00:00Z', ['2026-03-22T02:00Z', '2026-03-23T01:30Z']],
    // Midnight itself.
    ['0 0 * * *', 'America/Santiago', '2031-09-06T12:00:00Z', ['2031-09-07T04:00Z', '2031-09-08T03:00Z']],
    ['0 0 * * *', 'America/Sao_Paulo', '2018-11-03T12:00:00Z', ['2018-11-04T03:00Z', '2018-11-05T02:00Z']],
    // Several fixed times of the hour that is leapt over come together, and not again with one at three.
    [
      '0,30 2,3 * * *',
      'Europe/Berlin',
      '2031-03-29T12:00:00Z',
      ['2031-03-30T01:00Z', '2031-03-30T01:30Z', '2031-03-31T00:00Z'],
    ],
    // What comes every so often does not come in an hour that there is not.
    ['*/30 2 * * *', 'Europe/Berlin', '2031-03-29T12:00:00Z', ['2031-03-31T00:00Z', '2031-03-31T00:30Z']],
    ['0 * * * *', 'Europe/Berlin', '2031-03-29T23:30:00Z', ['2031-03-30T00:00Z', '2031-03-30T01:00Z']],
    ['* * * * *', 'Europe/Berlin', '2031-03-30T00:58:30Z', ['2031-03-30T00:59Z', '2031-03-30T01:00Z']],
  ])('%s in %s after %s', (expression, zone, after, expected) => {
    expect(runs(expression, zone, after, expected.length)).toEqual(expected)
  })
})

describe('where a clock is put back', () => {
  it.each([
    ['30 2 * * *', 'Europe/Berlin', '2031-10-25T12:00:00Z', ['2031-10-26T00:30Z', '2031-10-27T01:30Z']],
    ['30 1 * * *', 'America/New_York', '2031-11-01T12:00:00Z', ['2031-11-02T05:30Z', '2031-11-03T06:30Z']],
    ['45 1 * * *', 'Australia/Lord_Howe', '2031-04-05T10:00:00Z', ['2031-04-05T14:45Z', '2031-04-06T15:15Z']],
    ['30 2 * * *', 'Africa/Casablanca', '2026-02-14T12:00:00Z', ['2026-02-15T01:30Z', '2026-02-16T02:30Z']],
    ['30 23 * * *', 'America/Sao_Paulo', '2018-02-17T12:00:00Z', ['2018-02-18T01:30Z', '2018-02-19T02:30Z']],
    // Between the two half past twos, the next one is tomorrow's.
    ['30 2 * * *', 'Europe/Berlin', '2031-10-26T00:45:00Z', ['2031-10-27T01:30Z']],
    ['30 2,14 * * *', 'Europe/Berlin', '2031-10-25T22:00:00Z', ['2031-10-26T00:30Z', '2031-10-26T13:30Z']],
    [
      '*/30 2 * * *',
      'Europe/Berlin',
      '2031-10-25T22:00:00Z',
      ['2031-10-26T00:00Z', '2031-10-26T00:30Z', '2031-10-26T01:00Z', '2031-10-26T01:30Z'],
    ],
    ['0 * * * *', 'Europe/Berlin', '2031-10-25T23:30:00Z', ['2031-10-26T00:00Z', '2031-10-26T01:00Z']],
  ])('%s in %s after %s', (expression, zone, after, expected) => {
    expect(runs(expression, zone, after, expected.length)).toEqual(expected)
  })
})

describe('fields', () => {
  const after = '2031-03-01T12:00:00Z'
  it.each([
    ['0 0 29 2 *', ['2032-02-29', '2036-02-29', '2040-02-29']],
    ['0 0 L * *', ['2031-03-31', '2031-04-30', '2031-05-31']],
    ['0 0 L 2 *', ['2032-02-29', '2033-02-28', '2034-02-28']],
    ['0 0 LW * *', ['2031-03-31', '2031-04-30', '2031-05-30']],
    // The 15th of March 2031 is a Saturday, the 15th of June a Sunday.
    ['0 0 15W * *', ['2031-03-14', '2031-04-15', '2031-05-15', '2031-06-16']],
    ['0 0 1W 3,6 *', ['2031-03-03', '2031-06-02'].slice(0, 2)],
    ['0 0 * * 1#2', ['2031-03-10', '2031-04-14', '2031-05-12']],
    ['0 0 * * MON#5', ['2031-03-31', '2031-06-30', '2031-09-29']],
    ['0 0 * * 5L', ['2031-03-28', '2031-04-25', '2031-05-30']],
    ['0 0 * * mon,Wed', ['2031-03-03', '2031-03-05', '2031-03-10']],
    ['0 0 * * FRI-SUN', ['2031-03-02', '2031-03-07', '2031-03-08', '2031-03-09']],
    ['0 0 * * 7', ['2031-03-02', '2031-03-09', '2031-03-16']],
    ['0 0 * * 0', ['2031-03-02', '2031-03-09', '2031-03-16']],
    ['0 0 1 JAN,jul *', ['2031-07-01', '2032-01-01', '2032-07-01']],
    ['0 0 1 */4 *', ['2031-05-01', '2031-09-01', '2032-01-01']],
    ['0 0 1 2/5 *', ['2031-07-01', '2031-12-01', '2032-02-01']],
    ['0 0 ? * ?', ['2031-03-02', '2031-03-03', '2031-03-04']],
    // Both days given: either will do, as everywhere; with a plus, both must.
    ['0 0 13 * 5', ['2031-03-07', '2031-03-13', '2031-03-14']],
    ['0 0 13 * +5', ['2031-06-13', '2032-02-13', '2032-08-13']],
  ])('%s', (expression, days) => {
    const expected = days.map((day) => `${day}T00:00Z`)
    expect(runs(expression, 'UTC', after, days.length)).toEqual(expected)
  })

  it.each([
    ['5/15 * * * *', ['12:05', '12:20', '12:35', '12:50', '13:05']],
    ['*/25 * * * *', ['12:25', '12:50', '13:00', '13:25', '13:50']],
    ['10-12,40 * * * *', ['12:10', '12:11', '12:12', '12:40', '13:10']],
    ['10-30/10 * * * *', ['12:10', '12:20', '12:30', '13:10', '13:20']],
    ['0 14/3 * * *', ['14:00', '17:00', '20:00', '23:00', '14:00']],
    ['07 * * * *', ['12:07', '13:07', '14:07', '15:07', '16:07']],
  ])('%s', (expression, expected) => {
    expect(runs(expression, 'UTC', after, 5).map((run) => run.slice(11, 16))).toEqual(expected)
  })

  it('are read in the zone also where it is another year there', () => {
    expect(runs('0 20 31 12 *', 'America/New_York', '2031-01-01T00:30:00Z', 1)).toEqual(['2031-01-01T01:00Z'])
    expect(runs('0 1 1 1 *', 'Pacific/Auckland', '2030-12-31T11:30:00Z', 1)).toEqual(['2030-12-31T12:00Z'])
  })
})

describe('times that never come', () => {
  const refusal = (expression: CronExpression) => {
    try {
      requireValidCron(expression, new Date('2031-03-01T12:00:00Z'))
      return null
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      return [error.status, error.entries.map(({ meta }) => [meta?.source_field, meta?.rule])]
    }
  }
  const expressionWith = (name: string, text: string) => ({
    ...times('* * * * *'),
    [name]: text,
  })

  it.each<[string, keyof CronExpression, string[]]>([
    [
      'minute',
      'minute',
      [
        '60',
        '-1',
        '5-1',
        '1-',
        '*/0',
        '0/0',
        '*/61',
        '5/100',
        '1/2/3',
        '*/*',
        '*-5',
        'L',
        'MON',
        '@daily',
        '@hourly',
        '*\n',
        '\n*',
        '* *',
        '* * * * * *',
        '',
        ',',
        '1,',
        '1,,2',
        '1.5',
        '1e1',
        '0x10',
        '１',
        'H',
        '+1',
        '1#2',
        '1;2',
        '%',
        '*'.repeat(192),
      ],
    ],
    ['hour', 'hour', ['24', '*/25', '23-22', 'L', 'noon', '1L']],
    ['day_of_month', 'dayOfMonth', ['0', '32', 'W', 'L-3', '1-15W', '+1', 'MON', '32W']],
    ['month', 'month', ['0', '13', 'JANUARY', 'MON', 'JA', 'L']],
    ['day_of_week', 'dayOfWeek', ['8', 'L', '1#6', '1#0', '*#2', 'MONDAY', 'JAN', '+', '1W']],
  ])('are refused by their field: %s', (field, key, texts) => {
    for (const text of texts) {
      expect([text, refusal(expressionWith(key, text))]).toEqual([text, [422, [[field, 'cron']]]])
    }
  })

  it('are refused by every field at fault', () => {
    expect(refusal(times('60 24 0 13 8'))).toEqual([
      422,
      ['minute', 'hour', 'day_of_month', 'month', 'day_of_week'].map((field) => [field, 'cron']),
    ])
  })

  it.each(['0 0 30 2 *', '0 0 31 2 *', '0 0 31 4,6,9,11 *', '0 0 31 6 +1', '0 0 29 2 +2#1'])(
    'are days that no month has: %s',
    (expression) => {
      expect(refusal(times(expression))).toEqual([422, [['day_of_month', 'cron']]])
    },
  )

  it('are zones that there are not', () => {
    for (const zone of [
      'Mars/Olympus',
      '+01:00',
      '',
      'Europe/Berlin\n',
      'Europe Berlin',
      '__proto__',
      'Z',
      'x'.repeat(65),
    ]) {
      expect([zone, refusal({ ...times('0 0 * * *'), timezone: zone })]).toEqual([
        zone,
        [422, [['timezone', 'timezone']]],
      ])
    }
    for (const zone of ['UTC', 'europe/BERLIN', 'Asia/Kolkata', 'US/Eastern', 'Etc/GMT+1', 'EST5EDT']) {
      expect([zone, refusal({ ...times('0 0 * * *'), timezone: zone })]).toEqual([zone, null])
    }
  })

  it('are found out without a long search', () => {
    // Only ever in the hour that is leapt over, once a year.
    const costly = times('* 2 25-31 3 +0L', 'Europe/Berlin')
    const before = process.cpuUsage()
    expect(refusal(costly)).toEqual([422, [['day_of_month', 'cron']]])
    const { user } = process.cpuUsage(before)
    expect(user / 1000).toBeLessThan(400)
  })
})

const numRuns = generatedRuns({ few: 40, all: 150 })

describe('any times', () => {
  const list = (smallest: number, largest: number) =>
    fc.uniqueArray(fc.integer({ min: smallest, max: largest }), { minLength: 1, maxLength: 3 }).map(String)
  const step = fc.integer({ min: 1, max: 30 }).map((every) => `*/${every}`)
  const zones = [
    'Europe/Berlin',
    'America/New_York',
    'Australia/Lord_Howe',
    'Africa/Casablanca',
    'America/Santiago',
  ]
  /** Days around which the clocks of these zones are put forward or back. */
  const edges = [
    '2026-02-15',
    '2026-03-22',
    '2031-03-09',
    '2031-03-30',
    '2031-04-06',
    '2031-09-07',
    '2031-10-05',
    '2031-10-26',
    '2031-11-02',
    '2031-12-31',
  ]
  const expressions = fc.record({
    minute: fc.oneof(list(0, 59), step, fc.constant('*')),
    hour: fc.oneof(list(0, 4), list(0, 23), fc.constant('*'), fc.constant('*/3')),
    dayOfWeek: fc.oneof(fc.constant('*'), list(0, 6)),
    timezone: fc.constantFrom(...zones),
  })
  const instants = fc
    .tuple(fc.constantFrom(...edges), fc.integer({ min: -20 * 3600, max: 30 * 3600 }))
    .map(([day, seconds]) => new Date(Date.parse(`${day}T00:00:00Z`) + seconds * 1000 + 250))

  it(
    'come when a calendar and a clock on the wall say so, in the future and at full minutes',
    { timeout: 15_000 + numRuns * 100 },
    () => {
      fc.assert(
        fc.property(expressions, instants, (fields, after) => {
          const expression = { ...fields, dayOfMonth: '*', month: '*' }
          const expected = comingRuns(expression, after, 2).slice(0, 6)
          fc.pre(expected.length > 0)
          const actual = nextRuns(expression, after, expected.length)
          expect(actual.map((run) => run.toISOString())).toEqual(expected.map((run) => run.toISOString()))
          expect(nextRun(expression, after).getTime()).toBeGreaterThan(after.getTime())
          for (const run of actual) expect(run.getTime() % 60_000).toBe(0)
        }),
        { numRuns, ...generatedSeed() },
      )
    },
  )
})
