import { decodeProtectedHeader, jwtVerify } from 'jose'
import { beforeEach, describe, expect, it } from 'vitest'
import { makeClientToken, makeNode, makeServer, makeSubuser, makeUser } from '../support/factories.ts'
import { panelUrl, useWorld } from '../support/world.ts'

const world = useWorld()
let owner: Awaited<ReturnType<typeof makeUser>>
let node: Awaited<ReturnType<typeof makeNode>>
let server: Awaited<ReturnType<typeof makeServer>>

beforeEach(async () => {
  owner = await makeUser(world)
  node = await makeNode(world, { scheme: 'https', fqdn: 'node.example.test', daemonListen: 8443 })
  server = await makeServer(world, { owner, node })
})

const ask = async (user: { id: number }) =>
  world.request('GET', `/api/client/servers/${server.uuid}/websocket`, {
    token: await makeClientToken(world, user),
  })

const verified = (token: string) =>
  jwtVerify(token, new TextEncoder().encode(node.secret), { currentDate: world.clock.now })

describe('the token for the live console', () => {
  it('is what the daemon of the server expects, in one statement', async () => {
    const token = await makeClientToken(world, owner)
    let body: any
    const path = `/api/client/servers/${server.uuidShort}/websocket`
    const work = async () => (body = (await world.request('GET', path, { token })).body)
    expect(await world.countStatements(work)).toBe(1)
    expect(body.data.socket).toBe(`wss://node.example.test:8443/api/servers/${server.uuid}/ws`)
    const { payload } = await verified(body.data.token)
    const issuedAt = Math.floor(world.clock.now.getTime() / 1000)
    expect(payload).toEqual({
      iss: panelUrl,
      aud: ['https://node.example.test:8443'],
      iat: issuedAt,
      nbf: issuedAt - 300,
      exp: issuedAt + 600,
      jti: expect.stringMatching(/^[0-9a-f]{32}$/),
      unique_id: expect.stringMatching(/^[0-9a-f]{32}$/),
      scope: 'websocket',
      server_uuid: server.uuid,
      user_uuid: owner.uuid,
      user_id: owner.id,
      permissions: ['*'],
    })
    expect(decodeProtectedHeader(body.data.token)).toMatchObject({ alg: 'HS256', jti: payload.jti })
  })

  it('has one name per person and server, and is unique all the same', async () => {
    const [first, second] = [await ask(owner), await ask(owner)]
    const one = (await verified(first.body.data.token)).payload
    const other = (await verified(second.body.data.token)).payload
    expect(one.jti).toBe(other.jti)
    expect(one.unique_id).not.toBe(other.unique_id)
  })

  it('carries what its holder may do', async () => {
    const friend = await makeUser(world)
    await makeSubuser(world, server, friend, ['websocket.connect', 'control.console'])
    const admin = await makeUser(world, { rootAdmin: true })
    const permissionsOf = async (user: { id: number }) =>
      (await verified((await ask(user)).body.data.token)).payload.permissions
    expect(await permissionsOf(friend)).toEqual(['websocket.connect', 'control.console'])
    expect(await permissionsOf(admin)).toContain('admin.websocket.install')
  })

  it('needs websocket.connect', async () => {
    const friend = await makeUser(world)
    await makeSubuser(world, server, friend, ['control.console', 'control.start'])
    const { status, body } = await ask(friend)
    expect([status, body.errors[0].code]).toEqual([403, 'HttpForbiddenException'])
  })

  it('is given five times a minute to each user on each server', async () => {
    const token = await makeClientToken(world, owner)
    const path = `/api/client/servers/${server.uuid}/websocket`
    for (let n = 0; n < 5; n += 1) {
      expect((await world.request('GET', path, { token })).status).toBe(200)
    }
    const refused = await world.request('GET', path, { token })
    expect(refused.status).toBe(429)
    expect(refused.headers.get('retry-after')).toBe('60')
    const admin = await makeUser(world, { rootAdmin: true })
    expect((await ask(admin)).status).toBe(200)
    const other = await makeServer(world, { owner, node })
    expect(
      (await world.request('GET', `/api/client/servers/${other.uuid}/websocket`, { token })).status,
    ).toBe(200)
  })
})
