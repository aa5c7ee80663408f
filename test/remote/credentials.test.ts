import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { nodes, servers } from '../../src/db/schema.ts'
import { randomText, encrypt } from '../../src/domain/secrets.ts'
import { makeKey, makeNode, makeServer, makeUser } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
let node: Awaited<ReturnType<typeof makeNode>>
let server: Awaited<ReturnType<typeof makeServer>>

beforeEach(async () => {
  node = await makeNode(world)
  server = await makeServer(world, { node, status: 'installing', installedAt: null })
})

const routes = () =>
  [
    ['GET', '/api/remote/servers'],
    ['GET', `/api/remote/servers/${server.uuid}`],
    ['GET', `/api/remote/servers/${server.uuid}/install`],
    ['POST', `/api/remote/servers/${server.uuid}/install`, { successful: true, reinstall: false }],
    ['POST', '/api/remote/servers/reset', null],
    ['POST', '/api/remote/activity', { data: [] }],
  ] as const

const withHeader = async (authorization: string | null) => {
  const answers = []
  for (const [method, path, body] of routes()) {
    const headers: Record<string, string> = authorization === null ? {} : { authorization }
    answers.push(await world.request(method, path, { headers, ...(body === undefined ? {} : { body }) }))
  }
  return answers
}

const untouched = async () => {
  const [row] = await world.database.db.select().from(servers).where(eq(servers.id, server.id))
  return row?.status === 'installing' && row.installedAt === null
}

describe('a daemon', () => {
  it('gets 401 without a bearer token, whatever it sends instead', async () => {
    for (const header of [null, '', 'Bearer', 'Basic dXNlcjpwYXNz', node.token]) {
      for (const answer of await withHeader(header)) {
        expect(answer.status, String(header)).toBe(401)
        expect(answer.headers.get('www-authenticate')).toBe('Bearer')
      }
    }
    expect(await untouched()).toBe(true)
  })

  it('gets 400 for a token that is not two parts', async () => {
    for (const token of ['foo', 'foo.bar.baz', '.foo', 'foo.', 'foo..bar']) {
      for (const { status } of await withHeader(`Bearer ${token}`)) expect(status, token).toBe(400)
    }
    expect(await untouched()).toBe(true)
  })

  it('gets 403 for an unknown id, a wrong secret, the pair of halves of two nodes, and an API key', async () => {
    const other = await makeNode(world)
    const { token: key } = await makeKey(world, await makeUser(world, { rootAdmin: true }), {
      type: 'application',
    })
    const tokens = [
      `${randomText(16)}.${node.secret}`,
      `${node.daemonTokenId}.${randomText(64)}`,
      `${other.daemonTokenId}.${node.secret}`,
      `${node.daemonTokenId}.${node.secret.toLowerCase()}`,
      `${key.slice(0, 16)}.${key.slice(16)}`,
    ]
    for (const token of tokens) {
      for (const { status, body } of await withHeader(`Bearer ${token}`)) {
        expect(status, token).toBe(403)
        expect(body.errors[0].code).toBe('HttpForbiddenException')
      }
    }
    expect(await untouched()).toBe(true)
  })

  it('is let in on every route, whatever the case of the scheme', async () => {
    for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
      const statuses = (await withHeader(`${scheme} ${node.token}`)).map(({ status }) => status)
      expect(statuses).toEqual([200, 200, 200, 204, 204, 200])
    }
  })

  it('may use the pair before the last reset until that expires', async () => {
    const [tokenId, secret] = [randomText(16), randomText(64)]
    const place = { table: 'nodes', column: 'previous_token', row: node.uuid } as const
    await world.database.db
      .update(nodes)
      .set({
        previousTokenId: tokenId,
        previousToken: await encrypt(world.panel, secret, place),
        previousTokenExpiresAt: new Date(world.clock.now.getTime() + 60_000),
      })
      .where(eq(nodes.id, node.id))
    const status = async (token: string) =>
      (await world.request('GET', '/api/remote/servers', { token })).status
    expect(await status(`${tokenId}.${secret}`)).toBe(200)
    expect(await status(`${tokenId}.${node.secret}`)).toBe(403)
    world.clock.advance(61)
    expect(await status(`${tokenId}.${secret}`)).toBe(403)
    expect(await status(node.token)).toBe(200)
  })

  it('of another node gets 403 for every route of a server and changes nothing', async () => {
    const { token } = await makeNode(world)
    for (const name of [server.uuid, server.uuidShort]) {
      const path = `/api/remote/servers/${name}`
      for (const answer of [
        await world.request('GET', path, { token }),
        await world.request('GET', `${path}/install`, { token }),
        await world.request('POST', `${path}/install`, { token, body: { successful: true } }),
      ]) {
        expect(answer.status).toBe(403)
        expect(answer.body.errors[0].code).toBe('HttpForbiddenException')
        expect(answer.text).not.toContain(server.name)
      }
    }
    expect((await world.request('GET', '/api/remote/servers', { token })).body.data).toEqual([])
    expect((await world.request('POST', '/api/remote/servers/reset', { token })).status).toBe(204)
    const entry = {
      user: null,
      server: server.uuid,
      event: 'server:power.start',
      metadata: {},
      ip: '',
      timestamp: '2026-01-01T00:00:00Z',
    }
    expect(
      (await world.request('POST', '/api/remote/activity', { token, body: { data: [entry] } })).status,
    ).toBe(200)
    expect(await untouched()).toBe(true)
    expect(await world.events()).toEqual([])
  })

  it('gets 404 for an unknown server, also for names no server can have', async () => {
    for (const name of [crypto.randomUUID(), '00000000', '1', `${server.uuid}0`, "' or 1=1 --", 'ä']) {
      const path = `/api/remote/servers/${encodeURIComponent(name)}`
      for (const answer of [
        await world.request('GET', path, { token: node.token }),
        await world.request('GET', `${path}/install`, { token: node.token }),
        await world.request('POST', `${path}/install`, { token: node.token, body: { successful: true } }),
      ]) {
        expect(answer.status, name).toBe(404)
        expect(answer.body.errors[0].code).toBe('RecordNotFoundException')
      }
    }
  })

  it('gets 404 and 405 in JSON like every caller', async () => {
    const { token } = node
    expect((await world.request('GET', '/api/remote/nothing', { token })).status).toBe(404)
    expect((await world.request('DELETE', '/api/remote/servers', { token })).status).toBe(405)
    expect((await world.request('GET', '/api/remote/servers/reset', { token })).status).toBe(405)
  })
})
