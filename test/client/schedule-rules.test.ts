import { beforeEach, describe, expect, it } from 'vitest'
import { useWorld } from '../support/world.ts'
import { command, createScheduleFixtures, type ScheduleFixtures } from './schedule-fixtures.ts'

const world = useWorld()
let fixtures: ScheduleFixtures
let schedule: number

beforeEach(async () => {
  fixtures = await createScheduleFixtures(world)
  schedule = await fixtures.add()
})

/** Adds tasks `a`, `b`, … in this order; gives their ids. */
async function addTasks(names: string): Promise<Record<string, number>> {
  const ids: Record<string, number> = {}
  for (const name of names) ids[name] = await fixtures.addTask(schedule, { payload: name })
  return ids
}

/** Lists the names of the tasks by their sequence ids 1, 2, 3 … */
async function order(): Promise<string> {
  const all = await fixtures.tasksOf(schedule)
  expect(all.map(({ sequence_id }) => sequence_id)).toEqual(all.map((_, at) => at + 1))
  return all.map(({ payload }) => payload).join('')
}

describe('a new task', () => {
  it.each([
    [undefined, 'abcX'],
    [null, 'abcX'],
    [1, 'Xabc'],
    [2, 'aXbc'],
    ['3', 'abXc'],
    [4, 'abcX'],
    [5, 'abcX'],
    [2_147_483_647, 'abcX'],
    [0, 'Xabc'],
    [-7, 'Xabc'],
  ])('takes the place that was asked for: %s', async (sequence_id, expected) => {
    await addTasks('abc')
    const { body } = await fixtures.post(`/${schedule}/tasks`, { ...command, payload: 'X', sequence_id })
    expect(body.attributes.sequence_id).toBe(expected.indexOf('X') + 1)
    expect(await order()).toBe(expected)
  })

  it('is the first where there is none, whatever was asked for', async () => {
    const { body } = await fixtures.post(`/${schedule}/tasks`, { ...command, sequence_id: 9 })
    expect(body.attributes.sequence_id).toBe(1)
  })
})

describe('a changed task', () => {
  it.each([
    ['a', 3, 'bcade'],
    ['e', 1, 'eabcd'],
    ['b', 4, 'acdbe'],
    ['d', 2, 'adbce'],
    ['c', 3, 'abcde'],
    ['c', undefined, 'abcde'],
    ['c', null, 'abcde'],
    ['b', 0, 'bacde'],
    ['b', -5, 'bacde'],
    ['b', 99, 'acdeb'],
  ])('moves those between its places: %s to %s', async (name, sequence_id, expected) => {
    const ids = await addTasks('abcde')
    const { body } = await fixtures.post(`/${schedule}/tasks/${ids[name]}`, {
      ...command,
      payload: name,
      sequence_id,
    })
    expect(body.attributes.sequence_id).toBe(expected.indexOf(name) + 1)
    expect(await order()).toBe(expected)
  })
})

describe('a removed task', () => {
  it('is followed by the later ones', async () => {
    const ids = await addTasks('abcd')
    await fixtures.remove(`/${schedule}/tasks/${ids.b}`)
    expect(await order()).toBe('acd')
    await fixtures.remove(`/${schedule}/tasks/${ids.d}`)
    expect(await order()).toBe('ac')
    await fixtures.remove(`/${schedule}/tasks/${ids.a}`)
    expect(await order()).toBe('c')
  })
})

describe('many at once', () => {
  it('leave the places 1 to n, each taken once', { timeout: 120_000 }, async () => {
    const ids = Object.values(await addTasks('abcdefgh'))
    let serial = 0
    const random = (below: number) => Math.floor(Math.random() * below)
    for (let round = 0; round < 20; round += 1) {
      const answers = await Promise.all(
        Array.from({ length: 12 }, async (_, at) => {
          const id = ids[random(ids.length)]
          const wanted = { ...command, payload: `say ${(serial += 1)}`, sequence_id: random(12) - 1 }
          if (at < 8) return fixtures.post(`/${schedule}/tasks/${id}`, wanted)
          return at < 10
            ? fixtures.post(`/${schedule}/tasks`, wanted)
            : fixtures.remove(`/${schedule}/tasks/${id}`)
        }),
      )
      for (const { status } of answers) expect([200, 204, 400, 404]).toContain(status)
      const left = await fixtures.tasksOf(schedule)
      expect(left.map(({ sequence_id }) => sequence_id)).toEqual(left.map((_, at) => at + 1))
      ids.splice(0, ids.length, ...left.map(({ id }) => id))
      if (ids.length < 6) ids.push(await fixtures.addTask(schedule))
    }
  })
})
