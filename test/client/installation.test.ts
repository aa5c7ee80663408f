import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { jobs, servers } from '../../src/db/schema.ts'
import type { Server, ServerStatus } from '../../src/db/tables/servers.ts'
import {
  makeAllocation,
  makeApplicationToken,
  makeClientToken,
  makeEgg,
  makeNode,
  makeServer,
  makeSubuser,
  makeUser,
} from '../support/factories.ts'
import { useStubDaemon } from '../support/stub-daemon.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
const daemon = useStubDaemon()
let admin: string
let owner: string
let subuser: string
let weakSubuser: string
let node: Awaited<ReturnType<typeof makeNode>>
let server: { id: number; uuid: string }

/** Creates a server by the API; its daemon accepts the installation and never reports its end. */
beforeEach(async () => {
  admin = await makeApplicationToken(world)
  node = await makeNode(world, { daemonListen: daemon.port })
  const user = await makeUser(world)
  owner = await makeClientToken(world, user)
  const answer = await world.request('POST', '/api/application/servers', {
    token: admin,
    body: {
      name: 'New',
      user: user.id,
      egg: (await makeEgg(world)).id,
      docker_image: 'node:24-alpine',
      startup: 'node server.mjs',
      environment: { MOTD: 'Hi' },
      limits: { memory: 512, swap: 0, disk: 1024, io: 500, cpu: 100 },
      feature_limits: { databases: 0, allocations: 0, backups: 0 },
      allocation: { default: (await makeAllocation(world, node)).id },
    },
  })
  server = answer.body.attributes
  subuser = await subuserToken(['settings.reinstall'])
  weakSubuser = await subuserToken(['control.console'])
  daemon.calls.length = 0
})

async function subuserToken(permissions: string[]): Promise<string> {
  const user = await makeUser(world)
  await makeSubuser(world, (await row()) as Server, user, permissions as never)
  return makeClientToken(world, user)
}

const row = async () => (await world.database.db.select().from(servers).where(eq(servers.id, server.id)))[0]
const setStatus = (status: ServerStatus) =>
  world.database.db.update(servers).set({ status }).where(eq(servers.id, server.id))
const show = (token = owner) =>
  world.request('GET', `/api/client/servers/${server.uuid}/installation`, { token })
const reinstall = (token: string) =>
  world.request('POST', `/api/client/servers/${server.uuid}/settings/reinstall`, { token })
const mark = (body: unknown, id = server.id, token = admin) =>
  world.request('POST', `/api/application/servers/${id}/installation`, { token, body })
const waitingJobs = async () =>
  (await world.database.db.select().from(jobs)).flatMap(({ name, state }) =>
    state === 'waiting' ? [name] : [],
  )
const code = ({ status, body }: { status: number; body: any }) => [status, body.errors?.[0].code]

describe('an installation of which the node never reports the end', () => {
  it('shows since when it has been running and the log of the node where the daemon gives it', async () => {
    const since = world.clock.now.toISOString().slice(0, 19)
    world.clock.advance(600)
    daemon.respond({ json: { data: 'Pulling image\nno such image' } })
    expect((await show()).body).toEqual({
      object: 'installation',
      attributes: { started_at: `${since}+00:00`, log: 'Pulling image\nno such image' },
    })
    expect(daemon.calls.map(({ method, path }) => [method, path])).toEqual([
      ['GET', `/api/servers/${server.uuid}/install-logs`],
    ])
    daemon.respond({ json: { data: `${'x'.repeat(300_000)}end` } })
    const { log } = (await show(subuser)).body.attributes
    expect([log.length, log.endsWith('end')]).toEqual([128 * 1024, true])
  })

  it.each([
    ['has no such route', { status: 404, json: { error: 'not found' } }],
    ['fails', { status: 500 }],
    ['hangs up', { drop: true }],
    ['answers something else', { json: { data: { a: 1 } } }],
    ['answers no JSON', { text: 'log' }],
  ])('shows since when without a log when the daemon %s', async (_name, answer) => {
    daemon.respond(answer as never)
    const { status, body } = await show()
    expect([status, body.attributes.log]).toEqual([200, null])
    expect(body.attributes.started_at).not.toBeNull()
  })

  it('is shown to those who may reinstall the server, and has no beginning once it has ended', async () => {
    expect((await show(weakSubuser)).status).toBe(403)
    expect((await show(await makeClientToken(world, await makeUser(world)))).status).toBe(404)
    expect((await mark({ status: 'installed' })).status).toBe(204)
    expect((await show()).body.attributes.started_at).toBeNull()
  })

  it('can be started again at once by the owner and by an administrator, not by subusers nor by a second click', async () => {
    expect(code(await reinstall(subuser))).toEqual([409, 'ServerStateConflictException'])
    expect((await reinstall(owner)).status).toBe(202)
    const administrator = await makeClientToken(world, await makeUser(world, { rootAdmin: true }))
    expect(code(await reinstall(administrator))).toEqual([409, 'ServerStateConflictException'])
    world.clock.advance(31)
    const since = world.clock.now.toISOString().slice(0, 19)
    expect((await reinstall(administrator)).status).toBe(202)
    expect((await show()).body.attributes.started_at).toBe(`${since}+00:00`)
    expect(daemon.calls.filter(({ path }) => path.endsWith('/reinstall'))).toHaveLength(2)
    world.clock.advance(31)
    const answers = await Promise.all(Array.from({ length: 5 }, () => reinstall(owner)))
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(1)
  })
})

describe('an administrator', () => {
  it('marks the server as installed, which is recorded and ends the jobs', async () => {
    expect((await mark({ status: 'installed' })).status).toBe(204)
    expect(await row()).toMatchObject({ status: null, installedAt: world.clock.now })
    expect(await world.events()).toEqual(['admin:server.create', 'server:installation.complete'])
    const left = await waitingJobs()
    for (const name of ['watch-install', 'create-server-on-node', 'reinstall-server-on-node'])
      expect(left).not.toContain(name)
    expect((await mark({ status: 'installed' })).status).toBe(204)
    expect(await world.events()).toHaveLength(2)
  })

  it('marks the installation as failed, the first one and a later one', async () => {
    expect((await mark({ status: 'failed' })).status).toBe(204)
    expect(await row()).toMatchObject({ status: 'install_failed', installedAt: null })
    await mark({ status: 'installed' })
    await setStatus('installing')
    expect((await mark({ status: 'failed' })).status).toBe(204)
    expect((await row())?.status).toBe('reinstall_failed')
    expect(await world.events()).toEqual([
      'admin:server.create',
      'server:installation.fail',
      'server:installation.complete',
      'server:installation.fail',
    ])
    const report = { successful: true, reinstall: true }
    await world.request('POST', `/api/remote/servers/${server.uuid}/install`, {
      token: node.token,
      body: report,
    })
    expect((await row())?.status).toBeNull()
  })

  it('is refused for other states, other words, other keys and other servers, which changes nothing', async () => {
    for (const status of ['suspended', 'restoring_backup'] as const) {
      await setStatus(status)
      for (const end of ['installed', 'failed']) expect((await mark({ status: end })).status).toBe(409)
      expect((await row())?.status).toBe(status)
    }
    await setStatus(null)
    expect(code(await mark({ status: 'failed' }))).toEqual([409, 'ServerStateConflictException'])
    for (const body of [{}, { status: 'done' }, { status: null }, { status: ['installed'] }])
      expect((await mark(body)).status).toBe(422)
    expect((await mark({ status: 'installed' }, 99_999)).status).toBe(404)
    const reader = await makeApplicationToken(world, { servers: 1 } as never)
    expect((await mark({ status: 'installed' }, server.id, reader)).status).toBe(403)
    expect((await mark({ status: 'installed' }, server.id, owner)).status).toBe(403)
    expect((await row())?.status).toBeNull()
    expect(await world.events()).toEqual(['admin:server.create'])
  })

  it('and the report of the daemon at once leave one end', async () => {
    const other = await makeServer(world, { node, status: 'installing' })
    const report = world.request('POST', `/api/remote/servers/${other.uuid}/install`, {
      token: node.token,
      body: { successful: true, reinstall: false },
    })
    const [marked, reported] = await Promise.all([mark({ status: 'installed' }, other.id), report])
    expect([marked.status, reported.status]).toEqual([204, 204])
    const [after] = await world.database.db.select().from(servers).where(eq(servers.id, other.id))
    expect(after?.status).toBeNull()
    const mails = (await world.database.db.select().from(jobs)).filter(({ name }) => name.includes('mail'))
    expect(mails.length).toBeLessThan(2)
  })
})
