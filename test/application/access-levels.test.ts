import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { listMountedRoutes } from '../../src/cli/api-info.ts'
import { dispatchOperation } from '../../src/cli/operations.ts'
import { apiKeys, databaseHosts, users } from '../../src/db/schema.ts'
import { type Acl, aclResources } from '../../src/db/tables/api-keys.ts'
import type { User } from '../../src/db/tables/users.ts'
import { removeApplicationKey } from '../../src/domain/auth/api-keys.ts'
import { getSetting } from '../../src/domain/settings/settings.ts'
import { findMetadata } from '../../src/http/metadata.ts'
import { changeOf, fullAcl, makeApplicationToken, makeKey, makeUser } from '../support/factories.ts'
import { makeDatabaseHost } from '../support/mysql.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
let admin: User

beforeEach(async () => {
  admin = await makeUser(world, { rootAdmin: true })
})

const send = (token: string, method: string, path: string, body?: unknown) =>
  world.request(method, `/api/application/${path}`, { token, ...(body === undefined ? {} : { body }) })
const rules = (answer: { body: any }) =>
  answer.body.errors.map(({ meta }: any) => `${meta.source_field}: ${meta.rule}`)
const rowsOf = (id: number) => world.database.db.select().from(users).where(eq(users.id, id))
const added = { username: 'new', email: 'new@example.test', first_name: 'A', last_name: 'B' }

describe('AZ-6: a key with users:2 and no level on administrators', () => {
  let token: string

  beforeEach(async () => {
    token = await makeApplicationToken(world, { users: 3 })
  })

  it('neither makes nor promotes an administrator', async () => {
    const user = await makeUser(world)
    expect((await send(token, 'POST', 'users', { ...added, root_admin: true })).status).toBe(403)
    expect((await send(token, 'PATCH', `users/${user.id}`, changeOf(user, { root_admin: '1' }))).status).toBe(
      403,
    )
    expect(await rowsOf(user.id)).toEqual([user])
    expect((await send(token, 'POST', 'users', { ...added, root_admin: false })).status).toBe(201)
    expect((await send(token, 'PATCH', `users/${user.id}`, changeOf(user, { first_name: 'C' }))).status).toBe(
      200,
    )
  })

  it('neither changes, demotes, resets nor deletes an administrator', async () => {
    const before = await rowsOf(admin.id)
    for (const change of [
      { root_admin: false },
      { password: 'another horse' },
      { email: 'x@example.test' },
      {},
    ])
      expect((await send(token, 'PATCH', `users/${admin.id}`, changeOf(admin, change))).status).toBe(403)
    expect((await send(token, 'DELETE', `users/${admin.id}`)).status).toBe(403)
    expect(await rowsOf(admin.id)).toEqual(before)
  })

  it('reaches no administrator by a promotion that happens at the same time', async () => {
    const full = await makeApplicationToken(world)
    const user = await makeUser(world)
    const [promotion, change] = await Promise.all([
      send(full, 'PATCH', `users/${user.id}`, changeOf(user, { root_admin: true })),
      send(token, 'PATCH', `users/${user.id}`, changeOf(user, { first_name: 'Changed' })),
    ])
    expect(promotion.status).toBe(200)
    expect([200, 403]).toContain(change.status)
    expect(
      (await send(token, 'PATCH', `users/${user.id}`, changeOf(user, { first_name: 'Again' }))).status,
    ).toBe(403)
    expect((await rowsOf(user.id))[0]?.firstName).not.toBe('Again')
  })

  it('does all of it with administrators:2', async () => {
    token = await makeApplicationToken(world, { users: 2, administrators: 2 })
    expect((await send(token, 'POST', 'users', { ...added, root_admin: true })).status).toBe(201)
    expect(
      (await send(token, 'PATCH', `users/${admin.id}`, changeOf(admin, { root_admin: false }))).status,
    ).toBe(200)
    expect((await send(token, 'DELETE', `users/${admin.id}`)).status).toBe(204)
  })
})

describe('the level of a key on resources of later versions', () => {
  const later = ['administrators', 'activity', 'mounts', 'announcements', 'webhooks']
  const original = aclResources.filter((name) => !later.includes(name))
  const stored = (level: 1 | 3, names: readonly string[] = original) =>
    Object.fromEntries(names.map((name) => [name, level])) as Acl
  const statusWith = async (acl: Acl) => {
    const { token } = await makeKey(world, admin, { type: 'application', acl })
    return (await send(token, 'PATCH', `users/${admin.id}`, changeOf(admin, { language: 'de' }))).status
  }

  it('is everything for a key that was stored with all access, and nothing for any other', async () => {
    expect(await statusWith(stored(3))).toBe(200)
    expect(await statusWith({ ...stored(3), administrators: 0 })).toBe(403)
    expect(await statusWith({ ...stored(3), nests: 1 })).toBe(403)
    expect(await statusWith(stored(3, original.slice(1)))).toBe(403)
  })

  it('is none for a key that is created without it, by the API and by the command line', async () => {
    const full = await makeApplicationToken(world)
    const { body } = await send(full, 'POST', 'keys', { acl: stored(3) })
    expect(body.attributes.acl).toEqual(stored(3))
    const made = body.attributes.identifier + body.meta.secret_token
    expect((await send(made, 'PATCH', `users/${admin.id}`, changeOf(admin, { language: 'de' }))).status).toBe(
      403,
    )
    const create = async (acl?: Acl) => {
      const input = { user: admin.username, type: 'application', ...(acl ? { acl } : {}) }
      return (await dispatchOperation(world.panel, { verb: 'key:create', input })) as { token: string }
    }
    const limited = await create(stored(3))
    expect(
      (await send(limited.token, 'PATCH', `users/${admin.id}`, changeOf(admin, { language: 'de' }))).status,
    ).toBe(403)
    const unlimited = await create()
    expect(
      (await send(unlimited.token, 'PATCH', `users/${admin.id}`, changeOf(admin, { language: 'de' }))).status,
    ).toBe(200)
  })

  it('is shown where keys are listed, as far as there is one', async () => {
    await makeKey(world, admin, { type: 'application', acl: stored(3), description: 'early' })
    const { body } = await send(await makeApplicationToken(world), 'GET', 'keys?filter[description]=early')
    expect(body.data[0].attributes.acl).toEqual(fullAcl)
  })
})

describe('another address of a database host', () => {
  it('needs the password anew, in the same request, and changes nothing without it', async () => {
    const token = await makeApplicationToken(world)
    const host = await makeDatabaseHost(world)
    const patch = (body: object) =>
      send(token, 'PATCH', `database-hosts/${host.id}`, { ...body, skip_check: true })
    for (const change of [{ host: 'evil.example.test' }, { port: host.port + 1 }, { username: 'other' }]) {
      for (const body of [change, { ...change, password: null }])
        expect(rules(await patch(body)), JSON.stringify(body)).toEqual(['password: required'])
    }
    expect(await world.database.db.select().from(databaseHosts)).toEqual([host])
    const unchanged = { host: host.host, port: String(host.port), username: host.username, name: 'Renamed' }
    expect((await patch(unchanged)).status).toBe(200)
    expect((await patch({ host: 'db2.example.test', password: 'anew' })).status).toBe(200)
  })

  it('does not get a password that was sent for the old one at the same time', async () => {
    const token = await makeApplicationToken(world)
    const host = await makeDatabaseHost(world)
    const patch = (body: object) =>
      send(token, 'PATCH', `database-hosts/${host.id}`, { ...body, skip_check: true })
    const [moved, replaced] = await Promise.all([
      patch({ host: 'db2.example.test', password: 'of the new one' }),
      patch({ password: 'of the old one' }),
    ])
    expect([moved.status, replaced.status].filter((status) => status !== 200 && status !== 409)).toEqual([])
    expect(moved.status === 200 || replaced.status === 200).toBe(true)
  })
})

describe('settings that reach further than settings', () => {
  const eu = 'https://eu.panel.test'

  it('regions.endpoints needs nodes:2 beside settings:2, for changes alone', async () => {
    const full = await makeApplicationToken(world)
    const limited = await makeApplicationToken(world, { settings: 3, nodes: 1 })
    const both = await makeApplicationToken(world, { settings: 2, nodes: 2 })
    const set = (token: string, endpoints: unknown) =>
      send(token, 'PATCH', 'settings', { regions: { endpoints }, trash: { retention_days: 9 } })
    expect((await set(limited, { eu })).status).toBe(403)
    expect(await getSetting(world.panel, 'trash.retention_days')).toBe(7)
    expect((await set(limited, {})).status).toBe(200)
    expect((await set(both, { eu })).status).toBe(200)
    expect((await set(limited, { eu })).status).toBe(200)
    expect((await set(limited, null)).status).toBe(403)
    expect((await set(full, null)).status).toBe(200)
  })

  it('another OpenID Connect issuer clears the stored client secret, unless it brings its own', async () => {
    const token = await makeApplicationToken(world)
    const change = (values: object) => send(token, 'PATCH', 'settings', { sign_in: values })
    const secret = () => getSetting(world.panel, 'sign_in.oidc_client_secret')
    const first = { oidc_issuer: 'https://one.test', oidc_client_id: 'roost', oidc_client_secret: 'first' }
    await change({ ...first, oidc: true })
    expect((await change({ oidc_issuer: 'https://one.test', oidc_name: 'One' })).status).toBe(200)
    expect(await secret()).toBe('first')
    const refused = await change({ oidc_issuer: 'https://evil.test' })
    expect(rules(refused)).toEqual(['sign_in.oidc_client_secret: required_if'])
    expect(await getSetting(world.panel, 'sign_in.oidc_issuer')).toBe('https://one.test')
    expect((await change({ oidc_issuer: 'https://two.test', oidc_client_secret: 'second' })).status).toBe(200)
    expect(await secret()).toBe('second')
    expect((await change({ oidc: false, oidc_issuer: 'https://three.test' })).status).toBe(200)
    expect(await secret()).toBeNull()
    await change({ oidc_client_secret: 'third' })
    await change({ oidc_issuer: null })
    expect(await secret()).toBeNull()
  })
})

describe('AZ-6: a key that a key creates', () => {
  const hour = 3_600_000
  const at = (ms: number) => new Date(world.clock.now.getTime() + ms)
  const maker = async (values: { allowedIps?: string[]; expiresAt?: Date }) =>
    (await makeKey(world, admin, { type: 'application', acl: fullAcl, ...values })).token
  const create = (token: string, body: object, ip = '192.0.2.1') =>
    world.request('POST', '/api/application/keys', { token, ip, body: { acl: {}, ...body } })

  it('works from addresses of its maker alone', async () => {
    const token = await maker({ allowedIps: ['192.0.2.0/24', '2001:db8::/32'] })
    for (const range of [
      '0.0.0.0/0',
      '192.0.0.0/16',
      '203.0.113.1',
      '::/0',
      '2001:db8::/31',
      '::ffff:0:0/96',
    ]) {
      const answer = await create(token, { allowed_ips: ['192.0.2.7', range] })
      expect([range, answer.status, answer.body.errors[0].detail.includes(range)]).toEqual([range, 403, true])
    }
    const within = await create(token, {
      allowed_ips: ['192.0.2.128/25', '::ffff:192.0.2.9', '2001:db8:1::/48'],
    })
    expect(within.body.attributes.allowed_ips).toEqual(['192.0.2.128/25', '192.0.2.9', '2001:db8:1::/48'])
    for (const body of [{}, { allowed_ips: null }, { allowed_ips: [] }]) {
      const inherited = await create(token, body)
      expect(inherited.body.attributes.allowed_ips).toEqual(['192.0.2.0/24', '2001:db8::/32'])
    }
    expect((await create(await maker({}), { allowed_ips: ['0.0.0.0/0'] })).status).toBe(201)
  })

  it('expires no later than its maker', async () => {
    const token = await maker({ expiresAt: at(hour) })
    const seconds = (date: Date) => `${date.toISOString().slice(0, 19)}+00:00`
    expect((await create(token, { expires_at: at(hour + 1000).toISOString() })).status).toBe(403)
    const inherited = await create(token, {})
    expect(inherited.body.attributes.expires_at).toBe(seconds(at(hour)))
    const sooner = await create(token, { expires_at: at(hour / 2).toISOString() })
    expect(sooner.body.attributes.expires_at).toBe(seconds(at(hour / 2)))
    expect((await create(await maker({}), { expires_at: at(10 * hour).toISOString() })).status).toBe(201)
  })

  it('is not created by a key that is deleted at the same time', async () => {
    const { token, row } = await makeKey(world, admin, { type: 'application', acl: fullAcl })
    const [answer] = await Promise.all([
      create(token, { description: 'late' }),
      removeApplicationKey(world.panel, row.identifier),
    ])
    expect([201, 401]).toContain(answer.status)
    const rows = await world.database.db.select().from(apiKeys)
    expect(rows.map(({ description }) => description)).toEqual(answer.status === 201 ? ['late'] : [])
    expect((await create(token, {})).status).toBe(401)
  })
})

describe('a key without any level on users', () => {
  it('gets 403 on every route of users, but for the two that list and show them', async () => {
    const token = await makeApplicationToken(world, { ...fullAcl, users: 0 })
    const user = await makeUser(world, { externalId: 'external' })
    const rows = listMountedRoutes().filter(({ path }) => path.startsWith('/api/application/users'))
    const statuses = await Promise.all(
      rows.map(async (row) => {
        const path = row.path
          .replace(/:external_id(\{[^/]*\})?/, 'external')
          .replace(/:user(\{[^/]*\})?/, String(user.id))
        const hasBody = findMetadata(row, 'input') !== null && row.method !== 'GET'
        const { status } = await world.request(row.method, path, {
          token,
          ...(hasBody ? { body: added } : {}),
        })
        return [`${row.method} ${row.path}`, status] as const
      }),
    )
    expect(statuses.length).toBeGreaterThan(5)
    expect(statuses.filter(([, status]) => status !== 403)).toEqual([
      ['GET /api/application/users', 200],
      ['GET /api/application/users/:user', 200],
    ])
  })
})
