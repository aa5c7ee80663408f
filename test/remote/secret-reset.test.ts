import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { dispatchOperation } from '../../src/cli/operations.ts'
import { single } from '../../src/db/database.ts'
import { nodes } from '../../src/db/schema.ts'
import { encrypt } from '../../src/domain/secrets.ts'
import { makeApplicationToken, makeNode, makeServer } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
let token: string
let node: Awaited<ReturnType<typeof makeNode>>
let server: Awaited<ReturnType<typeof makeServer>>

beforeEach(async () => {
  token = await makeApplicationToken(world)
  node = await makeNode(world)
  server = await makeServer(world, { node })
})

const row = async () => single(await world.database.db.select().from(nodes).where(eq(nodes.id, node.id)))
const change = (body: object) => world.request('PATCH', `/api/application/nodes/${node.id}`, { token, body })
/** Answers of the panel to the daemon with this pair, to a read and a write. */
const statusesWith = async (pair: string) => [
  (await world.request('GET', '/api/remote/servers', { token: pair })).status,
  (await world.request('POST', '/api/remote/servers/reset', { token: pair })).status,
]
/** Answers of the panel to a report of activity with this pair, and to one that cannot be read. */
const reportsWith = async (pair: string) => {
  const report = {
    user: null,
    event: 'server:power.start',
    metadata: {},
    ip: '',
    timestamp: 'now',
    server: server.uuid,
  }
  const bodies = [{ data: [{ ...report, metadata: { at: crypto.randomUUID() } }] }, { data: [] }, {}, 'x']
  const answers = []
  for (const body of bodies)
    answers.push((await world.request('POST', '/api/remote/activity', { token: pair, body })).status)
  return answers
}
const currentPair = async () => {
  const { body } = await world.request('GET', `/api/application/nodes/${node.id}/configuration`, { token })
  return `${body.token_id}.${body.token}`
}

describe('SE-4: reset_secret on a node', () => {
  it('refuses the old pair at once, and takes the new one', async () => {
    expect(await statusesWith(node.token)).toEqual([200, 204])
    expect((await change({ reset_secret: true })).status).toBe(200)
    expect(await statusesWith(node.token)).toEqual([403, 403])
    expect(await statusesWith(await currentPair())).toEqual([200, 204])
    expect((await change({ reset_secret: true, grace: false })).status).toBe(200)
    expect(await statusesWith(node.token)).toEqual([403, 403])
  })

  it('with grace keeps the old pair until the first use of the new one', async () => {
    await change({ reset_secret: true, grace: true })
    const fresh = await currentPair()
    expect(await statusesWith(node.token)).toEqual([200, 204])
    const [id, secret] = fresh.split('.')
    expect(await statusesWith(`${id}.${secret}x`)).toEqual([403, 403])
    expect(await statusesWith(node.token)).toEqual([200, 204])
    expect(await statusesWith(fresh)).toEqual([200, 204])
    expect(await statusesWith(node.token)).toEqual([403, 403])
    expect(await row()).toMatchObject({
      previousTokenId: null,
      previousToken: null,
      previousTokenExpiresAt: null,
    })
    const read = () => world.request('GET', '/api/remote/servers/unknown', { token: fresh })
    expect(await world.countStatements(read)).toBeLessThanOrEqual(2)
  })

  it('with grace keeps the old pair for an hour at most', async () => {
    await change({ reset_secret: true, grace: true })
    world.clock.advance(3599)
    expect(await statusesWith(node.token)).toEqual([200, 204])
    world.clock.advance(1)
    expect(await statusesWith(node.token)).toEqual([403, 403])
  })

  it('without grace ends the grace of a reset before it', async () => {
    await change({ reset_secret: true, grace: true })
    const between = await currentPair()
    await change({ reset_secret: true })
    for (const pair of [node.token, between]) expect(await statusesWith(pair)).toEqual([403, 403])
    expect(await statusesWith(await currentPair())).toEqual([200, 204])
  })

  it('keeps the grace of a reset that happens while the pair before is used', async () => {
    await change({ reset_secret: true, grace: true })
    const between = await currentPair()
    await Promise.all([statusesWith(between), change({ reset_secret: true, grace: true })])
    expect(await statusesWith(between)).toEqual([200, 204])
    expect(await statusesWith(node.token)).toEqual([403, 403])
  })

  it('refuses grace where no secret is replaced', async () => {
    for (const body of [{ grace: true }, { grace: 1, reset_secret: 'true', memory: 9 }]) {
      const answer = await change(body)
      expect([answer.status, answer.body.errors[0].meta]).toMatchObject([
        422,
        { source_field: 'reset_secret', rule: 'accepted_if' },
      ])
    }
    expect(await row()).toMatchObject({ memory: node.memory, daemonTokenId: node.daemonTokenId })
  })

  it('is a verb of the command line, with and without grace', async () => {
    const reset = (input: object) => dispatchOperation(world.panel, { verb: 'node:reset-secret', input })
    const named = { id: node.id, uuid: node.uuid, name: node.name }
    const until = new Date(world.clock.now.getTime() + 3_600_000).toISOString()
    expect(await reset({ node: node.name, grace: true })).toEqual({ node: named, grace_until: until })
    expect(await statusesWith(node.token)).toEqual([200, 204])
    expect(await reset({ node: node.uuid })).toEqual({ node: named, grace_until: null })
    expect(await statusesWith(node.token)).toEqual([403, 403])
    await expect(reset({ node: 'elsewhere' })).rejects.toThrow('There is no node elsewhere.')
  })

  describe('ends what a process knows of the pair that reports activity', () => {
    const taken = [200, 200, 422, 400]
    const reported = async () =>
      (await world.events()).filter((event) => event === 'server:power.start').length

    it('at once', async () => {
      expect(await reportsWith(node.token)).toEqual(taken)
      expect(await reportsWith(node.token)).toEqual(taken)
      await change({ reset_secret: true })
      expect(await reportsWith(node.token)).toEqual([403, 403, 403, 403])
      expect(await reported()).toBe(2)
      expect(await reportsWith(await currentPair())).toEqual(taken)
      expect(await reported()).toBe(3)
    })

    it('with grace when the new pair reports for the first time', async () => {
      await reportsWith(node.token)
      await change({ reset_secret: true, grace: true })
      expect(await reportsWith(node.token)).toEqual(taken)
      const fresh = await currentPair()
      expect(await reportsWith(fresh)).toEqual(taken)
      expect(await row()).toMatchObject({ previousTokenId: null })
      expect(await reportsWith(node.token)).toEqual([403, 403, 403, 403])
      expect(await reported()).toBe(3)
    })

    it('also where the new pair reported before another reset with grace', async () => {
      await change({ reset_secret: true, grace: true })
      const between = await currentPair()
      await reportsWith(between)
      await change({ reset_secret: true, grace: true })
      expect(await reportsWith(between)).toEqual(taken)
      await reportsWith(await currentPair())
      expect(await reportsWith(between)).toEqual([403, 403, 403, 403])
    })

    it('not when the key that encrypts it is replaced', async () => {
      await reportsWith(node.token)
      const daemonToken = await encrypt(world.panel, node.secret, {
        table: 'nodes',
        column: 'daemon_token',
        row: node.uuid,
      })
      await world.database.db.update(nodes).set({ daemonToken }).where(eq(nodes.id, node.id))
      expect(await reportsWith(node.token)).toEqual(taken)
      expect(await reported()).toBe(2)
    })

    it('nor does it let another secret in', async () => {
      await reportsWith(node.token)
      expect(await reportsWith(`${node.token}x`)).toEqual([403, 403, 403, 403])
      expect(await reportsWith(`${node.daemonTokenId}.`)).toEqual([400, 400, 400, 400])
      expect(await reported()).toBe(1)
    })
  })
})
