import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { activity, jobs, servers } from '../../src/db/schema.ts'
import type { ServerStatus } from '../../src/db/tables/servers.ts'
import { enqueueJob } from '../../src/domain/jobs/enqueue.ts'
import { makeNode, makeServer } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
const statuses = [
  null,
  'installing',
  'install_failed',
  'reinstall_failed',
  'suspended',
  'restoring_backup',
] as const
let node: Awaited<ReturnType<typeof makeNode>>

beforeEach(async () => {
  node = await makeNode(world)
})

const finish = (name: string, body: unknown) =>
  world.request('POST', `/api/remote/servers/${name}/install`, { token: node.token, body })

const rowOf = async (server: { id: number }) => {
  const [row] = await world.database.db.select().from(servers).where(eq(servers.id, server.id))
  return row
}

describe('an install callback', () => {
  const results: [object, ServerStatus][] = [
    [{ successful: true, reinstall: false }, null],
    [{ successful: true, reinstall: true }, null],
    [{ successful: true }, null],
    [{ successful: false, reinstall: false }, 'install_failed'],
    [{ successful: false }, 'install_failed'],
    [{ successful: false, reinstall: null }, 'install_failed'],
    [{ successful: false, reinstall: true }, 'reinstall_failed'],
  ]
  for (const status of statuses) {
    it(`moves a server that is ${status ?? 'normal'} as its result says, and comes again without effect`, async () => {
      for (const [report, result] of results) {
        const server = await makeServer(world, { node, status, installedAt: null })
        const expected = status === 'suspended' ? 'suspended' : result
        expect((await finish(server.uuid, report)).status).toBe(204)
        const after = await rowOf(server)
        expect(after).toMatchObject({ status: expected, installedAt: world.clock.now })
        expect((await finish(server.uuid, report)).status).toBe(204)
        expect(await rowOf(server)).toEqual(after)
      }
      expect(await world.events()).toEqual([])
    })
  }

  it('takes booleans in every spelling', async () => {
    for (const [successful, reinstall, expected] of [
      ['1', '0', null],
      [1, 0, null],
      ['true', 'false', null],
      ['0', '1', 'reinstall_failed'],
      [0, 'true', 'reinstall_failed'],
      ['false', '', 'install_failed'],
    ] as const) {
      const server = await makeServer(world, { node, status: 'installing' })
      expect((await finish(server.uuidShort, { successful, reinstall })).status).toBe(204)
      expect((await rowOf(server))?.status).toBe(expected)
    }
  })

  it('needs to say whether it was successful', async () => {
    const server = await makeServer(world, { node, status: 'installing', installedAt: null })
    for (const body of [{}, null, [], { successful: null }, { successful: 'yes' }, { successful: {} }]) {
      const answer = await finish(server.uuid, body)
      expect(answer.status).toBe(422)
      expect(answer.body.errors[0].meta.source_field).toBe('successful')
    }
    expect(await rowOf(server)).toMatchObject({ status: 'installing', installedAt: null })
  })

  it('ends the job that would create the server on the node, and no other', async () => {
    const [server, other] = [await makeServer(world, { node }), await makeServer(world, { node })]
    for (const { id } of [server, other]) {
      await enqueueJob(
        world.panel,
        'create-server-on-node',
        { serverId: id, startOnCompletion: false },
        { key: `create-server:${id}` },
      )
    }
    await finish(server.uuid, { successful: true })
    const rows = await world.database.db.select().from(jobs)
    expect(Object.fromEntries(rows.map(({ key, state }) => [key, state]))).toEqual({
      [`create-server:${server.id}`]: 'done',
      [`create-server:${other.id}`]: 'waiting',
    })
  })
})

describe('a reset after the restart of a daemon', () => {
  const reset = () =>
    world.request('POST', '/api/remote/servers/reset', { token: node.token, raw: 'null', ip: '203.0.113.4' })

  it('frees what was being installed or restored on its node, and nothing else', async () => {
    const elsewhere = await makeServer(world, { status: 'restoring_backup' })
    const made = new Map<ServerStatus, { id: number }>()
    for (const status of statuses) made.set(status, await makeServer(world, { node, status }))
    expect((await reset()).status).toBe(204)
    for (const [status, server] of made) {
      const expected = status === 'installing' || status === 'restoring_backup' ? null : status
      expect((await rowOf(server))?.status).toBe(expected)
    }
    expect((await rowOf(elsewhere))?.status).toBe('restoring_backup')
  })

  it('records a failed restore for each server that was being restored, once', async () => {
    const restoring = [
      await makeServer(world, { node, status: 'restoring_backup' }),
      await makeServer(world, { node, status: 'restoring_backup' }),
    ]
    await makeServer(world, { node, status: 'installing' })
    await reset()
    await reset()
    const rows = await world.database.db.select().from(activity).orderBy(activity.id)
    expect(rows).toHaveLength(2)
    for (const [at, row] of rows.entries()) {
      expect(row).toMatchObject({
        event: 'server:backup.restore-failed',
        serverId: restoring[at]?.id,
        nodeId: node.id,
        actorId: null,
        source: 'system',
        ip: '203.0.113.4',
        timestamp: world.clock.now,
        properties: {},
      })
    }
  })

  it('takes two statements and any body', async () => {
    await makeServer(world, { node, status: 'restoring_backup' })
    expect(await world.countStatements(reset)).toBe(2)
    const path = '/api/remote/servers/reset'
    for (const raw of ['', '[]', '{"a":1}', 'no json']) {
      expect((await world.request('POST', path, { token: node.token, raw })).status).toBe(204)
    }
    expect((await world.request('POST', path, { token: node.token })).status).toBe(204)
  })
})
