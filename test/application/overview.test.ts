import { beforeEach, describe, expect, it } from 'vitest'
import { backups, jobs, nodeHeartbeats, transfers } from '../../src/db/schema.ts'
import { storeLastTick } from '../../src/domain/jobs/tick-history.ts'
import { openBrowser } from '../support/browser.ts'
import { makeApplicationToken, makeNode, makeServer } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
let token: string

const setMailService = (sendsMail: boolean) =>
  void Object.assign(world.services, { config: { ...world.services.config, sendsMail } })

beforeEach(async () => {
  setMailService(true)
  token = await makeApplicationToken(world)
})

const attention = async (as = token) =>
  (await world.request('GET', '/api/application/overview', { token: as })).body.attributes.attention
const ago = (minutes: number) => new Date(world.clock.now.getTime() - minutes * 60_000)
const db = () => world.database.db

async function makeBeat(values: Partial<typeof nodeHeartbeats.$inferInsert> = {}) {
  const node = await makeNode(world)
  const checkedAt = world.clock.now
  await db()
    .insert(nodeHeartbeats)
    .values({ id: node.id, isUp: true, since: ago(60), checkedAt, version: '1.12.1', ...values })
  return node
}

/** Makes one of everything that needs attention. */
async function makeTrouble() {
  const down = await makeBeat({ isUp: false, cause: 'refused' })
  const late = await makeBeat({ clockOffset: -40 })
  const ended = await makeBeat({ certificateEndsAt: ago(5) })
  const ending = await makeBeat({ certificateEndsAt: ago(-13 * 24 * 60) })
  await makeBeat({ certificateEndsAt: ago(-15 * 24 * 60) })
  const old = await makeBeat({ version: '1.11.13' })
  const node = await makeBeat()
  const unknown = await makeNode(world)
  const server = await makeServer(world, { node })
  const healthy = await makeServer(world, { node })
  const failed = { name: 'Nightly', disk: 's3', completedAt: ago(90), createdAt: ago(95) }
  await db()
    .insert(backups)
    .values([
      { serverId: server.id, ...failed },
      { serverId: healthy.id, ...failed },
      { serverId: healthy.id, ...failed, isSuccessful: true, completedAt: ago(30), createdAt: ago(35) },
    ])
  await db()
    .insert(transfers)
    .values({
      serverId: server.id,
      oldNodeId: node.id,
      newNodeId: late.id,
      oldAllocationId: 1,
      newAllocationId: 2,
      createdAt: ago(180),
    })
  const deadlineAt = ago(-60)
  await db()
    .insert(jobs)
    .values([
      {
        name: 'send-mail',
        payload: {},
        state: 'dead',
        finishedAt: ago(5),
        lastError: 'No route.',
        deadlineAt,
      },
      { name: 'prune', payload: {}, runAt: ago(10), deadlineAt },
      { name: 'sync-server', payload: {}, runAt: ago(-10), deadlineAt },
    ])
  await storeLastTick(world.panel, ago(4))
  return { down, late, ended, ending, old, unknown, server }
}

describe('the overview', () => {
  it('has nothing to say of a healthy panel', async () => {
    await makeBeat()
    expect(await attention()).toEqual([])
  })

  it('says to administrators of the settings, and not to guests, that no mail can be sent', async () => {
    setMailService(false)
    expect(await attention()).toEqual([
      { id: 'mail_missing', severity: 'warning', object: null, count: 1, items: [] },
    ])
    expect(await attention(await makeApplicationToken(world, { nodes: 1 }))).toEqual([])
    const forgotten = async () => {
      const browser = await openBrowser(world)
      const { status, body } = await browser.request('POST', '/auth/password', { email: 'mara@example.test' })
      return { status, body }
    }
    const without = await forgotten()
    setMailService(true)
    expect(await forgotten()).toEqual(without)
    expect(without.status).toBe(200)
  })

  it('shows what needs attention, with what is behind it', async () => {
    const { down, late, ended, ending, old, unknown, server } = await makeTrouble()
    const found = await attention()
    expect(found.map(({ id, count }: any) => [id, count])).toEqual([
      ['nodes_down', 1],
      ['certificates_ended', 1],
      ['tick_late', 1],
      ['nodes_unknown', 1],
      ['certificates_ending', 1],
      ['clocks_off', 1],
      ['versions_behind', 1],
      ['jobs_dead', 1],
      ['jobs_late', 1],
      ['backups_failing', 1],
      ['transfers_stuck', 1],
    ])
    const itemOf = (id: string) => found.find((concern: any) => concern.id === id).items[0]
    expect(itemOf('nodes_down')).toMatchObject({ id: down.id, name: down.name, detail: 'refused' })
    expect(itemOf('nodes_unknown')).toMatchObject({ id: unknown.id })
    const secondsOf = (date: Date) => `${date.toISOString().slice(0, 19)}Z`
    expect(itemOf('certificates_ended')).toMatchObject({ id: ended.id, detail: secondsOf(ago(5)) })
    expect(itemOf('certificates_ending')).toMatchObject({ id: ending.id })
    expect(itemOf('clocks_off')).toMatchObject({ id: late.id, detail: '-40' })
    expect(itemOf('versions_behind')).toMatchObject({ id: old.id, detail: '1.11.13' })
    expect(itemOf('jobs_dead')).toMatchObject({ name: 'send-mail', detail: 'No route.' })
    expect(itemOf('jobs_late')).toMatchObject({ name: 'prune' })
    expect(itemOf('backups_failing')).toMatchObject({ id: server.id, name: server.name, detail: 'Nightly' })
    expect(itemOf('transfers_stuck')).toMatchObject({ id: server.id })
  })

  it('AZ-6: shows only what the levels of the caller allow', async () => {
    await makeTrouble()
    const idsFor = async (acl: Parameters<typeof makeApplicationToken>[1]) =>
      (await attention(await makeApplicationToken(world, acl))).map(({ id }: any) => id)
    const critical = ['nodes_down', 'certificates_ended']
    const warnings = ['nodes_unknown', 'certificates_ending', 'clocks_off', 'versions_behind']
    const ofNodes = [...critical, ...warnings]
    expect(await idsFor({ nodes: 1 })).toEqual(ofNodes)
    expect(await idsFor({ nodes: 1, servers: 1 })).toEqual([...ofNodes, 'backups_failing', 'transfers_stuck'])
    expect(await idsFor({ nodes: 1, jobs: 1 })).toEqual([...ofNodes, 'jobs_dead', 'jobs_late'])
    expect(await idsFor({ nodes: 1, settings: 1 })).toEqual([...critical, 'tick_late', ...warnings])
    const without = await makeApplicationToken(world, { users: 3 })
    expect((await world.request('GET', '/api/application/overview', { token: without })).status).toBe(403)
  })

  it('leaves out a node under maintenance, and shows ten of many', async () => {
    const node = await makeNode(world, { maintenanceMode: true })
    const beat = { isUp: false, since: ago(1), checkedAt: ago(1), cause: 'timeout' as const }
    await db()
      .insert(nodeHeartbeats)
      .values({ id: node.id, ...beat })
    expect(await attention()).toEqual([])
    for (let at = 0; at < 12; at += 1) await makeBeat({ isUp: false, cause: 'timeout' })
    const [down] = await attention()
    expect([down.count, down.items.length]).toEqual([12, 10])
  })
})
