import { beforeEach, describe, expect, it } from 'vitest'
import { activity, allocations } from '../../src/db/schema.ts'
import { makeAllocation, makeApplicationToken, makeNode, makeServer } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
let token: string
let node: Awaited<ReturnType<typeof makeNode>>
let free: Awaited<ReturnType<typeof makeAllocation>>[]

beforeEach(async () => {
  token = await makeApplicationToken(world)
  node = await makeNode(world)
  free = [
    await makeAllocation(world, node),
    await makeAllocation(world, node),
    await makeAllocation(world, node),
  ]
})

const path = (id: number) => `/api/application/nodes/${id}/allocations`
const remove = (ids: unknown, { id = node.id, key = token } = {}) =>
  world.request('POST', `${path(id)}/delete`, { token: key, body: { allocations: ids } })
const setAlias = (ids: unknown, alias?: unknown, { id = node.id, key = token } = {}) =>
  world.request('PATCH', path(id), { token: key, body: { allocations: ids, alias } })
const idsOf = (rows: { id: number }[]) => rows.map(({ id }) => id)
const stored = () => world.database.db.select().from(allocations).orderBy(allocations.id)
const entries = async () =>
  (await world.database.db.select().from(activity).orderBy(activity.id)).map(({ event, properties }) => [
    event,
    properties,
  ])

describe('deleting many allocations', () => {
  it('deletes those that are named, with an event for each', async () => {
    const [one, other, kept] = free
    const answer = await remove([other!.id, one!.id, one!.id])
    expect([answer.status, answer.text]).toEqual([204, ''])
    expect(idsOf(await stored())).toEqual([kept!.id])
    expect(await entries()).toEqual(
      [one!, other!].map(({ ip, port }) => [
        'admin:allocation.delete',
        { node: node.id, allocation: `${ip}:${port}` },
      ]),
    )
  })

  it('deletes none when a server uses one, and none when one is of another node or unknown', async () => {
    const server = await makeServer(world, { node })
    const foreign = await makeAllocation(world, await makeNode(world))
    const before = await stored()
    const used = await remove([...idsOf(free), server.allocationId])
    expect([used.status, used.body.errors[0].code]).toEqual([400, 'ServerUsingAllocationException'])
    expect((await remove([...idsOf(free), foreign.id])).status).toBe(404)
    expect((await remove([...idsOf(free), 999_999])).status).toBe(404)
    expect((await remove(idsOf(free), { id: foreign.nodeId })).status).toBe(404)
    expect(await stored()).toEqual(before)
    expect(await entries()).toEqual([])
  })

  it('is done once by two that ask at once', async () => {
    const answers = await Promise.all([remove(idsOf(free)), remove(idsOf(free.toReversed()))])
    expect(answers.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([204, 404])
    expect(await entries()).toHaveLength(3)
  })
})

describe('the alias of many allocations', () => {
  it('is set for free and used ones, and taken away', async () => {
    const server = await makeServer(world, { node })
    const ids = [free[0]!.id, server.allocationId]
    expect((await setAlias(ids, 'play.example.test')).status).toBe(204)
    const aliases = async () =>
      (await stored()).filter(({ ipAlias }) => ipAlias === 'play.example.test').map(({ id }) => id)
    expect(await aliases()).toEqual(ids)
    expect((await setAlias(ids, null)).status).toBe(204)
    expect(await aliases()).toEqual([])
  })

  it('is recorded with how many it changed, unless none', async () => {
    await setAlias([free[0]!.id], 'a.test')
    await setAlias(idsOf(free), 'a.test')
    await setAlias(idsOf(free), 'a.test')
    expect(await entries()).toEqual(
      [1, 2].map((changed) => ['admin:allocation.alias', { node: node.id, alias: 'a.test', changed }]),
    )
  })

  it('is set for none when one is of another node', async () => {
    const foreign = await makeAllocation(world, await makeNode(world))
    const before = await stored()
    expect((await setAlias([free[0]!.id, foreign.id], 'a.test')).status).toBe(404)
    expect(await stored()).toEqual(before)
  })
})

describe('both', () => {
  it('need write access to allocations', async () => {
    const key = await makeApplicationToken(world, { allocations: 1, nodes: 3 })
    expect((await remove(idsOf(free), { key })).status).toBe(403)
    expect((await setAlias(idsOf(free), 'x', { key })).status).toBe(403)
  })

  it('refuse no allocations, too many, and what is no id or no alias', async () => {
    const tooMany = Array.from({ length: 1001 }, (_, at) => at + 1)
    for (const ids of [undefined, [], tooMany, ['x'], [0]]) {
      expect((await remove(ids)).status).toBe(422)
      expect((await setAlias(ids, 'x')).status).toBe(422)
    }
    for (const alias of [undefined, 5, 'x'.repeat(192)]) {
      expect((await setAlias(idsOf(free), alias)).status).toBe(422)
    }
  })
})
