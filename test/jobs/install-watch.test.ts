import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { jobs, servers } from '../../src/db/schema.ts'
import type { ServerStatus } from '../../src/db/tables/servers.ts'
import {
  makeAllocation,
  makeApplicationToken,
  makeEgg,
  makeNode,
  makeServer,
  makeUser,
} from '../support/factories.ts'
import { useStubDaemon } from '../support/stub-daemon.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
const daemon = useStubDaemon()
let node: Awaited<ReturnType<typeof makeNode>>
let token: string

beforeEach(async () => {
  token = await makeApplicationToken(world)
  node = await makeNode(world, { daemonListen: daemon.port })
})

const minutes = async (count: number) => {
  world.clock.advance(count * 60)
  await world.runJobs()
}
const statusOf = async (id: number) =>
  (await world.database.db.select().from(servers).where(eq(servers.id, id)))[0]?.status
const setStatus = (id: number, status: ServerStatus) =>
  world.database.db.update(servers).set({ status }).where(eq(servers.id, id))
const watches = async () =>
  (await world.database.db.select().from(jobs).where(eq(jobs.name, 'watch-install'))).filter(
    ({ state }) => state === 'waiting',
  )
const questions = () => daemon.calls.filter(({ method }) => method === 'GET').length

async function create(): Promise<{ id: number; uuid: string }> {
  const egg = await makeEgg(world)
  const allocation = await makeAllocation(world, node)
  const body = {
    name: 'New',
    user: (await makeUser(world)).id,
    egg: egg.id,
    docker_image: 'node:24-alpine',
    startup: 'node server.mjs',
    environment: { MOTD: 'Hi' },
    limits: { memory: 512, swap: 0, disk: 1024, io: 500, cpu: 100 },
    feature_limits: { databases: 0, allocations: 0, backups: 0 },
    allocation: { default: allocation.id },
  }
  const answer = await world.request('POST', '/api/application/servers', { token, body })
  expect(answer.status).toBe(201)
  return answer.body.attributes
}
const reinstall = (id: number) => world.request('POST', `/api/application/servers/${id}/reinstall`, { token })
const report = (uuid: string, body: object) =>
  world.request('POST', `/api/remote/servers/${uuid}/install`, { token: node.token, body })

const unknown = { status: 404, json: { error: 'unknown' } }

describe('an installation of which nothing is heard', () => {
  it('is looked at every half hour and goes on while the daemon knows the server, for six hours', async () => {
    const { id } = await create()
    for (let look = 1; look < 12; look += 1) {
      await minutes(30)
      expect([await statusOf(id), questions()]).toEqual(['installing', look])
    }
    await minutes(30)
    expect(await statusOf(id)).toBe('install_failed')
    expect(await watches()).toEqual([])
  })

  it('has failed at once when the daemon does not know the server', async () => {
    const { id } = await create()
    const old = await makeServer(world, { node })
    expect((await reinstall(old.id)).status).toBe(204)
    daemon.respond(unknown)
    await minutes(29)
    expect(questions()).toBe(0)
    await minutes(1)
    expect([await statusOf(id), await statusOf(old.id)]).toEqual(['install_failed', 'reinstall_failed'])
    expect(await watches()).toEqual([])
    await minutes(600)
    expect(questions()).toBe(2)
  })

  it.each([
    ['refuses the panel', { status: 403 }],
    ['fails', { status: 500 }],
  ])('goes on for six hours while the daemon %s', async (_name, answer) => {
    const { id } = await create()
    daemon.respond(answer)
    await minutes(30)
    await minutes(300)
    expect(await statusOf(id)).toBe('installing')
    await minutes(30)
    expect(await statusOf(id)).toBe('install_failed')
  })

  it('has not failed while a job still has to tell the daemon', async () => {
    const { id } = await create()
    daemon.respond(unknown)
    await world.database.db
      .update(jobs)
      .set({ state: 'waiting', finishedAt: null, runAt: new Date(world.clock.now.getTime() + 7_200_000) })
      .where(eq(jobs.name, 'create-server-on-node'))
    await minutes(30)
    expect(await statusOf(id)).toBe('installing')
    expect(await watches()).toHaveLength(1)
  })
})

describe('an installation that ended', () => {
  it('is watched no more once its daemon has reported', async () => {
    const { id, uuid } = await create()
    expect(await watches()).toHaveLength(1)
    expect((await report(uuid, { successful: true, reinstall: false })).status).toBe(204)
    expect(await watches()).toEqual([])
    daemon.respond(unknown)
    await minutes(400)
    expect([await statusOf(id), questions()]).toEqual([null, 0])
  })

  it.each(['suspended', 'restoring_backup', null] as const)(
    'or was overtaken by the status %s is left alone',
    async (status) => {
      const { id } = await create()
      await setStatus(id, status)
      daemon.respond(unknown)
      await minutes(30)
      expect([await statusOf(id), questions()]).toEqual([status, 0])
      expect(await watches()).toEqual([])
    },
  )

  it('with its server needs nothing', async () => {
    const { id } = await create()
    await world.database.db.delete(servers).where(eq(servers.id, id))
    await minutes(30)
    expect(questions()).toBe(0)
    expect(await watches()).toEqual([])
  })

  it('because the daemon did not take it is not watched', async () => {
    const { id } = await makeServer(world, { node })
    daemon.respond({ status: 500 })
    expect((await reinstall(id)).status).toBe(500)
    expect(await watches()).toEqual([])
    await setStatus(id, 'installing')
    expect((await reinstall(id)).status).toBe(500)
    // It is still being installed, and a job has to watch that.
    expect(await watches()).toHaveLength(1)
  })
})

describe('a newer installation', () => {
  it('is not touched by the watch of the one before, not even while that one asks the daemon', async () => {
    const { id, uuid } = await create()
    world.clock.advance(30 * 60)
    let again = 0
    daemon.respond(async ({ method, path }) => {
      if (method !== 'GET') return null
      again += 1
      if (again > 1) return path.endsWith(uuid) ? { drop: true } : null
      await report(uuid, { successful: true, reinstall: false })
      world.clock.advance(1)
      await reinstall(id)
      return path.endsWith(uuid) ? { drop: true } : null
    })
    await world.runJobs()
    expect(again).toBeGreaterThan(0)
    expect(await statusOf(id)).toBe('installing')
    const [watch, ...others] = await watches()
    expect(others).toEqual([])
    expect(watch?.payload.since).toBe(world.clock.now.toISOString())
  })

  it('has six hours of its own', async () => {
    const { id } = await create()
    await minutes(330)
    expect((await reinstall(id)).status).toBe(204)
    await minutes(60)
    expect(await statusOf(id)).toBe('installing')
  })
})
