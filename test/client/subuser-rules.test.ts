import { beforeEach, describe, expect, it } from 'vitest'
import { servers, subusers } from '../../src/db/schema.ts'
import { makeClientToken, makeServer, makeSubuser, makeUser } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
let owner: Awaited<ReturnType<typeof makeUser>>
let server: Awaited<ReturnType<typeof makeServer>>
let friend: Awaited<ReturnType<typeof makeUser>>
let token: string

beforeEach(async () => {
  owner = await makeUser(world)
  server = await makeServer(world, { owner })
  friend = await makeUser(world)
  token = await makeClientToken(world, owner)
})

const at = (user = '') => `/api/client/servers/${server.uuid}/users${user && `/${user}`}`
const invite = (email: unknown, permissions: unknown, as = token) =>
  world.request('POST', at(), { token: as, body: { email, permissions } })
const update = (user: { uuid: string }, permissions: unknown, as = token) =>
  world.request('POST', at(user.uuid), { token: as, body: { permissions } })
const codeOf = ({ status, body }: { status: number; body: any }) => [status, body.errors[0].code]
const rightsOf = async () =>
  (await world.database.db.select().from(subusers).orderBy(subusers.id)).map(({ permissions }) => permissions)

/** Makes a subuser with these permissions, and a token of theirs. */
async function member(permissions: string[]) {
  const user = await makeUser(world)
  await makeSubuser(world, server, user, [...permissions, 'websocket.connect'])
  return { user, token: await makeClientToken(world, user) }
}

describe('the permissions of a subuser', () => {
  it('are those of the catalogue, each once, with the live console last', async () => {
    const given = [
      'websocket.connect',
      'file.read',
      'no.such',
      'file.read',
      'database.view-password',
      '*',
      'admin.websocket.errors',
      'control.stop',
    ]
    const { body } = await invite(friend.email, given)
    const stored = ['file.read', 'database.view_password', 'control.stop', 'websocket.connect']
    expect(body.attributes.permissions).toEqual(stored)
    expect(await rightsOf()).toEqual([stored])
  })

  it('are a list of at most a hundred texts', async () => {
    for (const [permissions, field, rule] of [
      [undefined, 'permissions', 'required'],
      [null, 'permissions', 'required'],
      ['file.read', 'permissions', 'array'],
      [{ a: 'file.read' }, 'permissions', 'array'],
      [[7], 'permissions.0', 'string'],
      [Array.from({ length: 101 }, () => 'file.read'), 'permissions', 'max'],
    ] as const) {
      const { status, body } = await invite(friend.email, permissions)
      expect([status, body.errors[0].meta]).toMatchObject([422, { source_field: field, rule }])
    }
    expect(await rightsOf()).toEqual([])
    const many = Array.from({ length: 100 }, (_, each) => `no.such${each}`)
    expect((await invite(friend.email, many)).body.attributes.permissions).toEqual(['websocket.connect'])
  })

  it('can only be given by a user who has them', async () => {
    const { token: as } = await member(['user.create', 'user.update', 'file.read', 'database.view_password'])
    const colleague = await member([])
    for (const permissions of [
      ['file.update'],
      ['file.read', 'no.such'],
      ['*'],
      ['admin.websocket.errors'],
    ]) {
      const refused = [403, 'HttpForbiddenException']
      expect(codeOf(await invite(friend.email, permissions, as)), String(permissions)).toEqual(refused)
      expect(codeOf(await update(colleague.user, permissions, as)), String(permissions)).toEqual(refused)
    }
    expect(await world.events()).toEqual([])
    expect((await invite(friend.email, ['file.read', 'websocket.connect'], as)).status).toBe(200)
    const { body } = await update(colleague.user, ['database.view-password', 'user.create'], as)
    expect(body.attributes.permissions).toEqual([
      'database.view_password',
      'user.create',
      'websocket.connect',
    ])
  })

  it('are given without limits by owners and administrators', async () => {
    const admin = await makeClientToken(world, await makeUser(world, { rootAdmin: true }))
    expect((await invite(friend.email, ['settings.reinstall', 'no.such'], admin)).status).toBe(200)
    expect((await update(friend, ['backup.restore'])).status).toBe(200)
    expect(await rightsOf()).toEqual([['backup.restore', 'websocket.connect']])
  })
})

describe('an invitation', () => {
  it('wants an e-mail address', async () => {
    for (const [email, rule] of [
      [undefined, 'required'],
      ['', 'required'],
      [7, 'string'],
      ['no-address', 'email'],
      ['a@b', 'email'],
      ['a b@example.test', 'email'],
      ['a@example.test\r\nBcc: b@example.test', 'email'],
      [`${'a'.repeat(191)}@example.test`, 'between'],
    ] as const) {
      const { status, body } = await invite(email, [])
      const rules = body.errors.map(({ meta }: any) => meta.rule)
      expect([status, body.errors[0].meta.source_field]).toEqual([422, 'email'])
      expect(rules, String(email)).toContain(rule)
    }
    expect(await rightsOf()).toEqual([])
  })

  it('is refused for the owner, and for an existing subuser', async () => {
    expect(codeOf(await invite(owner.email.toUpperCase(), []))).toEqual([400, 'UserIsServerOwnerException'])
    await invite(friend.email, ['file.read'])
    expect(codeOf(await invite(friend.email.toUpperCase(), []))).toEqual([
      400,
      'ServerSubuserExistsException',
    ])
    expect(await rightsOf()).toEqual([['file.read', 'websocket.connect']])
    expect(await world.events()).toEqual(['server:subuser.create'])
  })

  it('can be sent ten times in a quarter of an hour on each server', async () => {
    const admin = await makeClientToken(world, await makeUser(world, { rootAdmin: true }))
    for (let each = 0; each < 10; each += 1) {
      expect((await invite(`new${each}@example.test`, [], each % 2 ? token : admin)).status).toBe(200)
    }
    const refused = await invite('one-more@example.test', [])
    expect(codeOf(refused)).toEqual([429, 'ThrottleRequestsException'])
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(800)
    const other = await makeServer(world, { owner })
    const path = `/api/client/servers/${other.uuid}/users`
    const body = { email: 'new0@example.test', permissions: [] }
    expect((await world.request('POST', path, { token, body })).status).toBe(200)
    world.clock.advance(901)
    expect((await invite('one-more@example.test', [])).status).toBe(200)
  })
})

describe('people', () => {
  it('need a permission of their own for each of it', async () => {
    const { user } = await member([])
    const asks = {
      'user.read': [() => ['GET', ''] as const, () => ['GET', user.uuid] as const],
      'user.create': [() => ['POST', '', { email: friend.email, permissions: [] }] as const],
      'user.update': [() => ['POST', user.uuid, { permissions: [] }] as const],
      'user.delete': [() => ['DELETE', user.uuid] as const],
    }
    const all = Object.keys(asks)
    for (const [name, routes] of Object.entries(asks)) {
      const without = await member(all.filter((each) => each !== name))
      const just = await member([name])
      for (const route of routes) {
        const [method, path, body] = route() as readonly [string, string, object?]
        const options = body ? { body } : {}
        const refused = await world.request(method, at(path), { token: without.token, ...options })
        expect(codeOf(refused), `${method} without ${name}`).toEqual([403, 'AccessDeniedHttpException'])
        const allowed = await world.request(method, at(path), { token: just.token, ...options })
        expect(allowed.status, `${method} with ${name}`).toBeLessThan(300)
      }
    }
  })

  it('cannot change their own access, which is refused before the body is judged', async () => {
    const { user, token: as } = await member(['user.update'])
    for (const body of [{}, { permissions: 'all' }, { permissions: ['*'] }, { permissions: [] }]) {
      for (const uuid of [user.uuid, user.uuid.toUpperCase()]) {
        const answer = await world.request('POST', at(uuid), { token: as, body })
        expect(codeOf(answer)).toEqual([403, 'AccessDeniedHttpException'])
      }
    }
    const ofOwner = await world.request('POST', at(owner.uuid), { token, body: { permissions: [] } })
    expect(ofOwner.status).toBe(404)
  })

  it('cannot see, change or remove their own access, whatever they hold', async () => {
    const { user, token: as } = await member(['user.read', 'user.update', 'user.delete'])
    const admin = await makeUser(world, { rootAdmin: true })
    await makeSubuser(world, server, admin, ['websocket.connect'])
    for (const [person, key] of [
      [user, as],
      [admin, await makeClientToken(world, admin)],
    ] as const) {
      const answers = [
        await world.request('GET', at(person.uuid), { token: key }),
        await update(person, ['user.read'], key),
        await world.request('DELETE', at(person.uuid), { token: key }),
      ]
      expect(answers.map(codeOf)).toEqual(Array(3).fill([403, 'AccessDeniedHttpException']))
    }
    expect(await rightsOf()).toHaveLength(2)
    expect(await world.events()).toEqual([])
  })

  it('may change and remove others who hold more than they do, but add nothing they lack', async () => {
    const strong = await member(['backup.restore', 'file.read'])
    const weak = await member(['user.update', 'user.delete', 'file.read'])
    expect(codeOf(await update(strong.user, ['backup.restore'], weak.token))).toEqual([
      403,
      'HttpForbiddenException',
    ])
    expect((await update(strong.user, ['file.read'], weak.token)).status).toBe(200)
    expect((await world.request('DELETE', at(strong.user.uuid), { token: weak.token })).status).toBe(204)
  })

  it('are left alone while the state of the server allows no action', async () => {
    const { user, token: as } = await member(['user.read'])
    const admin = await makeClientToken(world, await makeUser(world, { rootAdmin: true }))
    await world.database.db.update(servers).set({ status: 'suspended' })
    for (const key of [token, as, admin]) {
      for (const path of [at(), at(user.uuid)]) {
        const answer = await world.request('GET', path, { token: key })
        expect(codeOf(answer)).toEqual([409, 'ServerStateConflictException'])
      }
    }
    expect(codeOf(await invite(friend.email, []))).toEqual([409, 'ServerStateConflictException'])
  })
})
