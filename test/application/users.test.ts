import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { single } from '../../src/db/database.ts'
import { users } from '../../src/db/schema.ts'
import { verifyPassword } from '../../src/domain/auth/password-hash.ts'
import {
  changeOf,
  makeApplicationToken,
  makeKey,
  makeServer,
  makeSubuser,
  makeUser,
} from '../support/factories.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
let token: string

beforeEach(async () => {
  token = await makeApplicationToken(world)
})

const path = '/api/application/users'
const send = (method: string, at: string, body?: unknown) =>
  world.request(method, `${path}${at}`, { token, ...(body === undefined ? {} : { body }) })
const get = (at: string) => send('GET', at)
const metas = (body: any) =>
  body.errors.map(({ meta: { source_field, rule } }: any) => ({ source_field, rule }))
const row = async (id: number) => single(await world.database.db.select().from(users).where(eq(users.id, id)))

const maria = {
  username: 'Maria.K',
  email: 'Maria@example.test',
  first_name: 'Maria',
  last_name: 'K',
}

describe('accounts', () => {
  it('are added; without a password they have none', async () => {
    const { status, body } = await send('POST', '', maria)
    expect(status).toBe(201)
    expect(body).toEqual({
      object: 'user',
      attributes: {
        id: 2,
        external_id: null,
        uuid: expect.any(String),
        username: 'maria.k',
        email: 'Maria@example.test',
        first_name: 'Maria',
        last_name: 'K',
        language: 'en',
        root_admin: false,
        '2fa': false,
        created_at: expect.any(String),
        updated_at: expect.any(String),
      },
      meta: { resource: 'http://panel.test/api/application/users/2' },
    })
    expect((await row(2)).passwordHash).toBeNull()
    expect(await world.events()).toEqual(['admin:user.create'])
  })

  it('take every field; a password is kept as a hash with its blanks', async () => {
    Object.assign(world.services.config, { passwordCost: undefined })
    const { body, text } = await send('POST', '?include=servers', {
      ...maria,
      external_id: 4711,
      password: ' correct horse ',
      language: 'pt_BR',
      root_admin: '1',
      is_owner: true,
    })
    expect(body.attributes).toMatchObject({
      external_id: '4711',
      language: 'pt_BR',
      root_admin: true,
      relationships: { servers: { object: 'list', data: [] } },
    })
    const { passwordHash } = await row(2)
    expect(passwordHash).toMatch(/^scrypt\$16384\$8\$5\$[\w-]{22}\$[\w-]{43}$/)
    expect(await verifyPassword(' correct horse ', passwordHash)).toBe(true)
    expect(await verifyPassword('correct horse', passwordHash)).toBe(false)
    expect(text).not.toContain('scrypt')
  })

  it('name each broken rule of each field', async () => {
    expect(metas((await send('POST', '', { username: '', email: null })).body)).toEqual(
      ['email', 'username', 'first_name', 'last_name'].map((source_field) => ({
        source_field,
        rule: 'required',
      })),
    )
    const { body } = await send('POST', '', {
      external_id: 'x'.repeat(192),
      email: 'maria@',
      username: '.maria',
      first_name: 'x'.repeat(192),
      last_name: ['K'],
      password: 'x'.repeat(1025),
      language: 'english',
      root_admin: 'maybe',
    })
    expect(metas(body).map((meta: any) => `${meta.source_field} ${meta.rule}`)).toEqual([
      'external_id max',
      'email email',
      'username p_username',
      'first_name between',
      'last_name string',
      'password max',
      'language max',
      'language regex',
      'root_admin boolean',
    ])
  })

  it('have a name of letters, digits, dots, hyphens and underscores', async () => {
    for (const username of ['a', 'A-b_c.9', '7x'])
      expect((await send('POST', '', { ...maria, username, email: `${username}@example.test` })).status).toBe(
        201,
      )
    for (const username of ['a b', 'a.', '_a', 'ä', 'a@b', 'a\nb'])
      expect(metas((await send('POST', '', { ...maria, username })).body)).toEqual([
        { source_field: 'username', rule: 'p_username' },
      ])
  })

  it('share neither name, address nor external id, whatever their case', async () => {
    const first = (await send('POST', '', { ...maria, external_id: 'crm-4' })).body.attributes
    const other = { ...maria, username: 'other', email: 'other@example.test' }
    const second = (await send('POST', '', { ...other, external_id: 'crm-5' })).body.attributes
    for (const [field, value] of [
      ['username', 'MARIA.k'],
      ['email', 'mARIA@EXAMPLE.TEST'],
      ['external_id', 'crm-4'],
    ] as const) {
      const taken = [{ source_field: field, rule: 'unique' }]
      const third = { ...other, username: 'third', email: 'third@example.test', [field]: value }
      const added = await send('POST', '', third)
      expect([added.status, metas(added.body)]).toEqual([422, taken])
      const changed = await send('PATCH', `/${second.id}`, { ...other, [field]: value })
      expect([changed.status, metas(changed.body)]).toEqual([422, taken])
    }
    const same = { ...maria, username: 'maria.K', email: first.email, external_id: 'crm-4' }
    expect((await send('PATCH', `/${first.id}`, same)).status).toBe(200)
  })

  it('are added once when two ask for a name at the same time', async () => {
    const both = await Promise.all(
      ['one', 'two'].map((name) => send('POST', '', { ...maria, email: `${name}@example.test` })),
    )
    expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 422])
  })

  it('are listed and shown to any Application key of an administrator', async () => {
    const user = await makeUser(world, { externalId: 'crm/4 ü' })
    const bare = await makeApplicationToken(world, {})
    const at = (place: string) => world.request('GET', `${path}${place}`, { token: bare })
    expect((await at('')).status).toBe(200)
    expect((await at(`/${user.id}`)).body.attributes.uuid).toBe(user.uuid)
    expect((await at('/external/crm')).status).toBe(403)
    for (const method of ['PATCH', 'DELETE'])
      expect((await world.request(method, `${path}/${user.id}`, { token: bare, body: {} })).status).toBe(403)
    expect((await world.request('POST', path, { token: bare, body: {} })).status).toBe(403)
    const { token: account } = await makeKey(world, { id: 1 }, { type: 'account' })
    expect((await world.request('GET', path, { token: account })).status).toBe(403)
  })

  it('are found by their external id', async () => {
    const user = await makeUser(world, { externalId: 'crm 4%ü' })
    const server = await makeServer(world, { owner: user })
    const at = `/external/${encodeURIComponent('crm 4%ü')}?include=servers.node`
    let answer: any
    expect(await world.countStatements(async () => (answer = await get(at)))).toBe(2)
    const [owned] = answer.body.attributes.relationships.servers.data
    expect(owned.attributes).toMatchObject({
      uuid: server.uuid,
      relationships: { node: { attributes: { id: server.nodeId } } },
    })
    for (const other of ['CRM%204%25%C3%BC', 'crm', 'x'.repeat(192)])
      expect((await get(`/external/${other}`)).status).toBe(404)
  })

  it('are found by an external id with an encoded slash, and NW-5 holds for every other path', async () => {
    const user = await makeUser(world, { externalId: 'shop/4/ü' })
    const server = await makeServer(world, { externalId: 'shop/5' })
    const find = (id: string, kind = 'users') =>
      world.request('GET', `/api/application/${kind}/external/${id}`, { token })
    // Some gateways decode the slash.
    for (const id of ['shop%2F4%2f%C3%BC', 'shop/4/ü'])
      expect((await find(id)).body.attributes?.id, id).toBe(user.id)
    expect((await find('shop%2f5', 'servers')).body.attributes.id).toBe(server.id)
    expect((await find('shop%2f6', 'servers')).status).toBe(404)
    for (const id of [
      '%2f',
      'a%2f',
      '%2fa',
      'a%2f%2fb',
      'a%2f..%2fb',
      'a%2f%2e%2E%2fb',
      'a%2f.',
      'a%2f%5cb',
      'a%2f%00',
    ])
      expect((await find(id)).status, id).toBe(400)
    for (const path of ['users/external%2fa', 'users%2f1', `users/external/a/b%2fc`, 'servers/1%2fdatabases'])
      expect((await get(`/../${path}`)).status, path).toBe(400)
    expect((await world.request('GET', '/api/client/servers/a%2fb', { token })).status).toBe(400)
  })

  it('are filtered and sorted, what matches to the letter first', async () => {
    const longer = await makeUser(world, { email: 'not-ann@example.test', externalId: '44' })
    const exact = await makeUser(world, { email: 'Ann@example.test', externalId: '4' })
    const ids = async (query: string) =>
      (await get(`?${query}`)).body.data.map((item: any) => item.attributes.id)
    expect(await ids('filter[email]=ann@example.test')).toEqual([exact.id, longer.id])
    expect(await ids('filter[email]=ann@example.test&sort=id')).toEqual([longer.id, exact.id])
    expect(await ids('filter[external_id]=4')).toEqual([exact.id, longer.id])
    expect(await ids(`filter[username]=${longer.username.toUpperCase()}`)).toEqual([longer.id])
    expect(await ids(`filter[uuid]=${exact.uuid.slice(0, 13)}`)).toEqual([exact.id])
    expect(await ids('filter[email]=%25&sort=-id')).toEqual([])
    expect((await get('?filter[name]=x')).body.errors[0].code).toBe('InvalidFilterQuery')
    expect((await get('?sort=email')).body.errors[0].code).toBe('InvalidSortQuery')
    expect((await get('?page=7&include=servers')).body).toMatchObject({
      data: [],
      meta: { pagination: { total: 3 } },
    })
  })

  it('bring their servers along in one statement, as far as the key may read them', async () => {
    const server = await makeServer(world)
    let answer: any
    const list = '?include=servers&sort=-id&per_page=1'
    expect(await world.countStatements(async () => (answer = await get(list)))).toBe(2)
    expect(answer.body.data[0].attributes.relationships.servers.data[0].attributes.id).toBe(server.id)
    const poor = await makeApplicationToken(world, { users: 3 })
    const denied = await world.request('GET', `${path}/${server.ownerId}?include=servers`, { token: poor })
    expect(denied.body.attributes.relationships.servers).toEqual({
      object: 'null_resource',
      attributes: null,
    })
  })

  it('are changed by their e-mail address, user name and names, and by what else was sent', async () => {
    const user = await makeUser(world, { externalId: 'crm-4', language: 'de', passwordHash: 'old' })
    const { status, body } = await send(
      'PATCH',
      `/${user.id}?include=servers`,
      changeOf(user, {
        username: 'Renamed',
        external_id: '',
        language: null,
        password: '',
      }),
    )
    expect(status).toBe(200)
    expect(body.attributes).toMatchObject({
      username: 'renamed',
      email: user.email,
      external_id: null,
      language: 'de',
      relationships: { servers: { data: [] } },
    })
    expect(body.meta).toEqual({ revocation_errors: [] })
    expect(await row(user.id)).toMatchObject({ passwordHash: 'old', authVersion: 0 })
    expect(
      metas((await send('PATCH', `/${user.id}`, { email: '', password: 'another horse' })).body),
    ).toEqual(
      ['email', 'username', 'first_name', 'last_name'].map((field) => ({
        source_field: field,
        rule: 'required',
      })),
    )
    expect(await row(user.id)).toMatchObject({ passwordHash: 'old', authVersion: 0 })
    expect((await send('PATCH', '/999', {})).status).toBe(404)
  })

  it('are signed out everywhere by a new password', async () => {
    const user = await makeUser(world)
    await send('PATCH', `/${user.id}`, changeOf(user, { password: 'another horse' }))
    const { passwordHash, authVersion } = await row(user.id)
    expect(authVersion).toBe(1)
    expect(await verifyPassword('another horse', passwordHash)).toBe(true)
    expect(await world.events()).toEqual(['admin:user.update'])
  })

  it('lose their Application keys with the rank of an administrator', async () => {
    const admin = await makeUser(world, { rootAdmin: true })
    const { token: key } = await makeKey(world, admin, { type: 'application', acl: { users: 3 } })
    const { body } = await send('PATCH', `/${admin.id}`, changeOf(admin, { root_admin: false }))
    expect([body.attributes.root_admin, body.meta]).toEqual([false, { revocation_errors: [] }])
    expect((await world.request('GET', path, { token: key })).status).toBe(403)
  })

  it('are removed unless they own servers or are the one who asks', async () => {
    const guest = await makeUser(world)
    const server = await makeServer(world)
    await makeSubuser(world, server, guest, ['websocket.connect'])
    await makeKey(world, guest, { type: 'account' })
    expect((await send('DELETE', `/${guest.id}`)).status).toBe(204)
    expect((await send('DELETE', `/${guest.id}`)).status).toBe(404)
    for (const id of [server.ownerId, 1]) {
      const { status, body } = await send('DELETE', `/${id}`)
      expect([status, body.errors[0].code]).toEqual([400, 'DisplayException'])
    }
  })

  it('are not found under what is no id, and refuse text that cannot be stored', async () => {
    for (const id of ['999', '0', '-1', '2147483648', '1e1', 'x']) {
      expect((await get(`/${id}`)).status).toBe(404)
      expect((await send('PATCH', `/${id}`, {})).status).toBe(404)
      expect((await send('DELETE', `/${id}`)).status).toBe(404)
    }
    for (const first_name of ['a\0b', '\ud800'])
      expect((await send('POST', '', { ...maria, first_name })).status).toBe(400)
  })
})
