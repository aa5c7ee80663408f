import { beforeEach, describe, expect, it } from 'vitest'
import { activity, subusers, users } from '../../src/db/schema.ts'
import { makeClientToken, makeNode, makeServer, makeSubuser, makeUser } from '../support/factories.ts'
import { useStubDaemon } from '../support/stub-daemon.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
const daemon = useStubDaemon()
let server: Awaited<ReturnType<typeof makeServer>>
let friend: Awaited<ReturnType<typeof makeUser>>
let token: string
let friendToken: string

beforeEach(async () => {
  const owner = await makeUser(world)
  const node = await makeNode(world, { daemonListen: daemon.port })
  server = await makeServer(world, { owner, node })
  await makeServer(world, { owner, node })
  friend = await makeUser(world)
  await makeSubuser(world, server, friend, ['control.stop', 'file.sftp', 'websocket.connect'])
  token = await makeClientToken(world, owner)
  friendToken = await makeClientToken(world, friend)
})

const path = () => `/api/client/servers/${server.uuid}/users/${friend.uuid}`
const update = (permissions: string[]) => world.request('POST', path(), { token, body: { permissions } })
const remove = () => world.request('DELETE', path(), { token })
const daemonCalls = () => daemon.calls.map((call) => [`${call.method} ${call.path}`, call.body])
const entries = async () =>
  (await world.database.db.select().from(activity).orderBy(activity.id)).map(({ event, properties }) => ({
    event,
    properties,
  }))
const denial = () => ['POST /api/deauthorize-user', { user: friend.uuid, servers: [server.uuid] }]
const old = ['control.stop', 'file.sftp', 'websocket.connect']

describe('a change of permissions', () => {
  it('ends what the node knew before the answer, and is recorded with old and new', async () => {
    const { status, body } = await update(['file.read'])
    expect([status, body.attributes.permissions]).toEqual([200, ['file.read', 'websocket.connect']])
    expect(daemonCalls()).toEqual([denial()])
    expect(await entries()).toEqual([
      {
        event: 'server:subuser.update',
        properties: {
          email: friend.email,
          old,
          new: ['file.read', 'websocket.connect'],
          revoked: true,
        },
      },
    ])
    world.clock.advance(3600)
    expect(await world.runJobs()).toBe(0)
  })

  it('does nothing when it is the same list in another order', async () => {
    const { status, body } = await update(['file.sftp', 'no.such', 'control.stop', 'file.sftp'])
    expect([status, body.attributes.permissions]).toEqual([200, old])
    expect(daemonCalls()).toEqual([])
    expect(await entries()).toEqual([])
    expect(world.messages).toEqual([])
  })

  it('holds though the node is away, and the node is told once it is back', async () => {
    daemon.respond({ status: 500, json: { error: 'broken' } })
    expect((await update(['file.read'])).status).toBe(200)
    expect(await entries()).toMatchObject([{ properties: { revoked: false } }])
    daemon.respond(null)
    daemon.calls.length = 0
    expect(await world.runJobs()).toBe(0)
    world.clock.advance(31)
    await world.runJobs()
    expect(daemonCalls()).toEqual([denial()])
    expect(await world.runJobs()).toBe(0)
  })

  it('is seen by the next request', async () => {
    const stop = () =>
      world.request('POST', `/api/client/servers/${server.uuid}/power`, {
        token: friendToken,
        body: { signal: 'stop' },
      })
    expect((await stop()).status).toBe(204)
    await update(['file.read'])
    expect((await stop()).status).toBe(403)
  })
})

describe('a removal', () => {
  it('ends what the node knew before the answer; the account stays', async () => {
    expect((await remove()).status).toBe(204)
    expect(daemonCalls()).toEqual([denial()])
    expect(await entries()).toEqual([
      { event: 'server:subuser.delete', properties: { email: friend.email, revoked: true } },
    ])
    expect(await world.database.db.select().from(subusers)).toEqual([])
    expect((await world.database.db.select().from(users)).map(({ id }) => id)).toContain(friend.id)
  })

  it('is seen by the next request, also when the node is away', async () => {
    const show = () => world.request('GET', `/api/client/servers/${server.uuid}`, { token: friendToken })
    expect((await show()).status).toBe(200)
    daemon.respond({ status: 503 })
    expect((await remove()).status).toBe(204)
    expect((await show()).status).toBe(404)
    expect(await entries()).toMatchObject([{ properties: { revoked: false } }])
  })

  it('happens once, however many ask for it at the same time', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, remove))
    expect(answers.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([
      204,
      ...Array(9).fill(404),
    ])
    expect(await entries()).toHaveLength(1)
    expect(daemonCalls()).toEqual([denial()])
  })

  it('and changes at the same time leave either nothing or what was said', async () => {
    const answers = await Promise.all([
      ...Array.from({ length: 5 }, (_, each) => update(each % 2 ? ['file.read'] : ['file.update'])),
      remove(),
    ])
    expect(answers.filter(({ status }) => ![200, 204, 404].includes(status))).toEqual([])
    expect(await world.database.db.select().from(subusers)).toEqual([])
    expect((await entries()).filter(({ event }) => event === 'server:subuser.delete')).toHaveLength(1)
  })
})
