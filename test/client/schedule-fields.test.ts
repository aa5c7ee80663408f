import { beforeEach, describe, expect, it } from 'vitest'
import { useWorld } from '../support/world.ts'
import {
  hourly,
  createScheduleFixtures,
  refusalIn,
  type ScheduleFixtures,
  scheduleResource,
} from './schedule-fixtures.ts'

const world = useWorld()
let fixtures: ScheduleFixtures

beforeEach(async () => {
  fixtures = await createScheduleFixtures(world)
})

describe('fields of a schedule', () => {
  it.each([
    [{ name: '' }, ['name', 'required']],
    [{ name: 7 }, ['name', 'string']],
    [{ name: 'x'.repeat(192) }, ['name', 'max']],
    [{ is_active: null }, ['is_active', 'filled']],
    [{ is_active: '' }, ['is_active', 'filled']],
    [{ is_active: 'maybe' }, ['is_active', 'boolean']],
    [{ only_when_online: 'maybe' }, ['only_when_online', 'boolean']],
    [{ minute: undefined }, ['minute', 'required']],
    [{ minute: '' }, ['minute', 'required']],
    [{ hour: null }, ['hour', 'required']],
    [{ day_of_month: undefined }, ['day_of_month', 'required']],
    [{ day_of_week: undefined }, ['day_of_week', 'required']],
    [{ minute: ['0'] }, ['minute', 'string']],
    [{ minute: '0'.repeat(192) }, ['minute', 'max']],
    [{ minute: '60' }, ['minute', 'cron']],
    [{ minute: '*/0' }, ['minute', 'cron']],
    [{ minute: '@daily' }, ['minute', 'cron']],
    [{ minute: '0 0 * * * *' }, ['minute', 'cron']],
    [{ minute: '0\n5' }, ['minute', 'cron']],
    [{ hour: '24' }, ['hour', 'cron']],
    [{ month: '13' }, ['month', 'cron']],
    [{ day_of_week: '8' }, ['day_of_week', 'cron']],
    [{ day_of_month: '31', month: '2' }, ['day_of_month', 'cron']],
    [{ day_of_month: '30', month: 'FEB' }, ['day_of_month', 'cron']],
    [{ timezone: 'Mars/Olympus' }, ['timezone', 'timezone']],
    [{ timezone: 5 }, ['timezone', 'string']],
  ])('are refused where they do not fit: %j', async (fields, failure) => {
    const id = await fixtures.add({ name: 'Kept' })
    for (const path of ['', `/${id}`]) {
      expect(refusalIn(await fixtures.post(path, { ...hourly, ...fields }))).toEqual([
        422,
        'ValidationException',
        failure,
      ])
    }
    expect((await fixtures.get()).body.data).toEqual([scheduleResource(id, { name: 'Kept' })])
    expect(await world.events()).toEqual(['server:schedule.create'])
  })

  it('are named together', async () => {
    const answer = await fixtures.post('', { ...hourly, minute: '60', hour: '24', day_of_week: '8' })
    expect(refusalIn(answer).slice(2)).toEqual([
      ['minute', 'cron'],
      ['hour', 'cron'],
      ['day_of_week', 'cron'],
    ])
    const empty = await fixtures.post('', {})
    expect(refusalIn(empty).slice(2)).toEqual(
      ['name', 'minute', 'hour', 'day_of_month', 'day_of_week'].map((field) => [field, 'required']),
    )
  })

  it('may be numbers, names and steps', async () => {
    const id = await fixtures.add({ minute: '5/15', hour: 9, month: 'mar,APR', day_of_week: 'MON#1' })
    expect((await fixtures.get(`/${id}`)).body.attributes).toMatchObject({
      cron: { minute: '5/15', hour: '9', month: 'mar,APR', day_of_week: 'MON#1' },
      next_run_at: '2031-03-03T09:05:00+00:00',
    })
  })
})

describe('the preview', () => {
  it('says when a schedule would run', async () => {
    const query = 'minute=30&hour=2&day_of_month=*&day_of_week=SUN&timezone=Europe/Berlin'
    const { status, body } = await fixtures.get(`/preview?${query}`)
    expect([status, body]).toEqual([
      200,
      {
        object: 'cron_preview',
        attributes: {
          timezone: 'Europe/Berlin',
          next_runs: [
            '2031-03-02T01:30:00+00:00',
            '2031-03-09T01:30:00+00:00',
            '2031-03-16T01:30:00+00:00',
            '2031-03-23T01:30:00+00:00',
            '2031-03-30T01:00:00+00:00',
          ],
        },
      },
    ])
  })

  it('refuses what a schedule refuses', async () => {
    const all = 'minute=0&hour=0&day_of_month=30&month=2&day_of_week=*'
    expect(refusalIn(await fixtures.get(`/preview?${all}`))).toEqual([
      422,
      'ValidationException',
      ['day_of_month', 'cron'],
    ])
    expect(refusalIn(await fixtures.get('/preview?minute=0&hour=0&day_of_month=*'))).toEqual([
      422,
      'ValidationException',
      ['day_of_week', 'required'],
    ])
    expect(refusalIn(await fixtures.get(`/preview?${all}&timezone=Nowhere`))).toEqual([
      422,
      'ValidationException',
      ['timezone', 'timezone'],
    ])
  })
})
