import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { jobs, locations, nodes } from '../../src/db/schema.ts'
import { makeApplicationToken, makeLocation, makeNode, makeRegions } from '../support/factories.ts'
import { eventually } from '../support/processes.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
let token: string

const eu = 'https://eu.panel.test'
const us = 'http://us.panel.test:8443'

beforeEach(async () => {
  token = await makeApplicationToken(world)
})

const send = (method: string, path: string, body?: unknown) =>
  world.request(method, `/api/application/${path}`, { token, ...(body === undefined ? {} : { body }) })
const setRegions = (endpoints: unknown) => send('PATCH', 'settings', { regions: { endpoints } })
const regions = async () => (await send('GET', 'settings')).body.attributes.regions.endpoints
const metas = (answer: { body: any }) =>
  answer.body.errors.map(({ meta }: any) => `${meta.source_field}: ${meta.rule}`)
/** Lists the nodes to whose daemons a job sends their configuration, then runs the waiting jobs. */
async function notifiedNodes() {
  await world.runJobs()
  const waiting = await world.database.db.select().from(jobs).where(eq(jobs.name, 'configure-node'))
  return waiting.map(({ payload }) => Number(payload['nodeId'])).toSorted((a, b) => a - b)
}

describe('regions', () => {
  it('are none at first, and are set as a whole', async () => {
    expect(await regions()).toEqual({})
    const changed = await setRegions({ eu, 'us-1': us })
    expect([changed.status, changed.body.attributes.regions]).toEqual([
      200,
      { endpoints: { eu, 'us-1': us } },
    ])
    expect((await setRegions({ eu })).status).toBe(200)
    expect(await regions()).toEqual({ eu })
    await setRegions(null)
    expect(await regions()).toEqual({})
  })

  it('have short names and an origin each that no other has', async () => {
    const refused: [endpoints: unknown, failures: string[]][] = [
      [{ EU: eu }, ['regions.endpoints.EU: regex']],
      [{ ['x'.repeat(33)]: eu }, [`regions.endpoints.${'x'.repeat(33)}: regex`]],
      [{ eu: `${eu}/` }, ['regions.endpoints.eu: origin']],
      [{ eu: `${eu}/api/remote` }, ['regions.endpoints.eu: origin']],
      [{ eu: 'https://user:word@eu.panel.test' }, ['regions.endpoints.eu: origin']],
      [{ eu: 'ftp://eu.panel.test' }, ['regions.endpoints.eu: url']],
      [{ eu: 'eu.panel.test' }, ['regions.endpoints.eu: url']],
      [{ eu: '' }, ['regions.endpoints.eu: url']],
      [{ eu, also: eu }, ['regions.endpoints: distinct']],
      [[eu], ['regions.endpoints: array']],
    ]
    for (const [endpoints, failures] of refused) {
      const answer = await setRegions(endpoints)
      expect([answer.status, metas(answer)], JSON.stringify(endpoints)).toEqual([422, failures])
    }
    expect(await regions()).toEqual({})
  })

  it('cannot go while locations name them', async () => {
    await setRegions({ eu, us })
    await makeLocation(world, { short: 'fra', region: 'eu' })
    for (const endpoints of [{ us }, {}, null]) {
      const answer = await setRegions(endpoints)
      expect([answer.status, metas(answer)]).toEqual([422, ['regions.endpoints: required']])
      expect(answer.body.errors[0].detail).toContain('fra (eu)')
    }
    expect(await regions()).toEqual({ eu, us })
    expect((await setRegions({ eu })).status).toBe(200)
  })

  it('are told to the daemons of a region by jobs when its origin is another one', async () => {
    await makeRegions(world, { eu, us })
    const [fra, nyc] = [
      await makeLocation(world, { region: 'eu' }),
      await makeLocation(world, { region: 'us' }),
    ]
    const near = [
      await makeNode(world, { locationId: fra.id }),
      await makeNode(world, { locationId: fra.id }),
    ]
    await makeNode(world, { locationId: nyc.id })
    await makeNode(world)
    await setRegions({ us, eu, asia: 'https://asia.panel.test' })
    expect(await notifiedNodes()).toEqual([])
    await setRegions({ us, eu: 'https://europe.panel.test' })
    expect(await notifiedNodes()).toEqual(near.map(({ id }) => id))
  })
})

describe("a location's region", () => {
  it('is given, shown, changed and taken away', async () => {
    await makeRegions(world, { eu, us })
    const added = await send('POST', 'locations', { short: 'fra', region: 'eu' })
    expect([added.status, added.body.attributes.region]).toEqual([201, 'eu'])
    const at = `locations/${added.body.attributes.id}`
    expect((await send('PATCH', at, { long: 'Frankfurt' })).body.attributes.region).toBe('eu')
    expect((await send('PATCH', at, { region: 'us' })).body.attributes.region).toBe('us')
    expect((await send('GET', 'locations')).body.data[0].attributes.region).toBe('us')
    expect((await send('PATCH', at, { region: null })).body.attributes.region).toBe(null)
  })

  it('is one of the settings', async () => {
    await makeRegions(world, { eu })
    const { id } = await makeLocation(world)
    for (const region of ['us', 'constructor', 'EU', '__proto__']) {
      const answers = [
        await send('POST', 'locations', { short: 'x', region }),
        await send('PATCH', `locations/${id}`, { region, long: 'Changed' }),
      ]
      for (const answer of answers) expect([answer.status, metas(answer)]).toEqual([422, ['region: exists']])
    }
    const rows = await world.database.db.select().from(locations)
    expect(rows).toMatchObject([{ id, region: null, long: null }])
  })

  it('is sent to its daemons by jobs, and to none when it is unchanged', async () => {
    await makeRegions(world, { eu, us })
    const { id } = await makeLocation(world, { region: 'eu' })
    const node = await makeNode(world, { locationId: id })
    await makeNode(world)
    await send('PATCH', `locations/${id}`, { region: 'eu', long: 'Frankfurt' })
    expect(await notifiedNodes()).toEqual([])
    await send('PATCH', `locations/${id}`, { region: 'us' })
    expect(await notifiedNodes()).toEqual([node.id])
  })

  it('goes together with the setting: of two that contradict each other one is refused', async () => {
    for (let round = 0; round < 5; round += 1) {
      await makeRegions(world, { eu })
      const { id } = await makeLocation(world)
      const answers = await Promise.all([setRegions({}), send('PATCH', `locations/${id}`, { region: 'eu' })])
      expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 422])
      const [location] = await world.database.db.select().from(locations).where(eq(locations.id, id))
      expect(Object.keys(await regions())).toEqual(location?.region ? [location.region] : [])
      await world.database.db.delete(locations).where(eq(locations.id, id))
    }
  })
})

describe('a node that moves', () => {
  it('has the origin which the region has in the end', async () => {
    await makeRegions(world, { eu })
    const { id } = await makeLocation(world, { region: 'eu' })
    const node = await makeNode(world)
    const europe = 'https://europe.panel.test'
    await Promise.all([send('PATCH', `nodes/${node.id}`, { location_id: id }), setRegions({ eu: europe })])
    await eventually(async () => {
      const [row] = await world.database.db.select().from(nodes).where(eq(nodes.id, node.id))
      return row?.locationId === id
    })
    expect((await send('GET', `nodes/${node.id}/configuration`)).body.remote).toBe(europe)
    expect(await notifiedNodes()).toEqual([node.id])
  })
})
