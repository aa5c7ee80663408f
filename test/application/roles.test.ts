import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { activity, activitySubjects, roles, users } from '../../src/db/schema.ts'
import type { Acl } from '../../src/db/tables/api-keys.ts'
import type { User } from '../../src/db/tables/users.ts'
import { type Browser, openSignedInBrowser } from '../support/browser.ts'
import { changeOf, fullAcl, makeKey, makeRole, makeRoleHolder, makeUser } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
let root: User
let asRoot: Browser

beforeEach(async () => {
  root = await makeUser(world, { rootAdmin: true })
  asRoot = await openSignedInBrowser(world, root)
})

const path = '/api/application/roles'
const rules = (answer: { body: any }) =>
  answer.body.errors.map(({ meta }: any) => `${meta.source_field}: ${meta.rule}`)
const userRow = async (id: number) =>
  (await world.database.db.select().from(users).where(eq(users.id, id))).at(0)
const changeUser = (browser: Browser, user: User, change: object) =>
  browser.request('PATCH', `/api/application/users/${user.id}`, changeOf(user, change))
const support: Acl = { users: 3, administrators: 3, servers: 1 }

/** Opens the browser of a new administrator whose role has these levels. */
const openRoleHolder = async (acl: Acl) => {
  const user = await makeRoleHolder(world, acl)
  return { user, browser: await openSignedInBrowser(world, user) }
}

describe('roles', () => {
  it('are added, shown, changed, filtered, and removed', async () => {
    const added = await asRoot.request('POST', path, {
      name: 'Support',
      acl: { servers: 1, users: '3', nodes: 0 },
    })
    expect(added).toMatchObject({
      status: 201,
      body: {
        object: 'role',
        attributes: {
          id: 1,
          name: 'Support',
          description: '',
          acl: { servers: 1, users: 3 },
          two_factor_required: false,
        },
        meta: { resource: 'http://panel.test/api/application/roles/1' },
      },
    })
    const changed = await asRoot.request('PATCH', `${path}/1`, {
      description: 'First line',
      two_factor_required: true,
      acl: { eggs: 3 },
    })
    expect(changed.body.attributes).toMatchObject({
      name: 'Support',
      description: 'First line',
      acl: { eggs: 3 },
      two_factor_required: true,
    })
    expect((await asRoot.request('PATCH', `${path}/1`, {})).status).toBe(200)
    expect((await asRoot.request('GET', `${path}/1`)).body).toEqual(changed.body)
    await makeRole(world, {}, { name: 'Eggs' })
    const listed = await asRoot.request('GET', `${path}?filter[name]=sup&sort=-name`)
    expect(listed.body.data.map(({ attributes }: any) => attributes.name)).toEqual(['Support'])
    expect((await asRoot.request('DELETE', `${path}/1`)).status).toBe(204)
    expect((await asRoot.request('GET', `${path}/1`)).status).toBe(404)
  })

  it('refuse what is invalid, by field', async () => {
    await makeRole(world, {}, { name: 'Support' })
    const answer = await asRoot.request('POST', path, {
      name: 'x'.repeat(61),
      description: 'x'.repeat(192),
      acl: { servers: 2, plugins: 1, nodes: 4 },
    })
    expect(rules(answer).toSorted()).toEqual([
      'acl.nodes: max',
      'acl.plugins: prohibited',
      'acl.servers: in',
      'description: max',
      'name: between',
    ])
    expect(rules(await asRoot.request('POST', path, { name: 'SUPPORT', acl: {} }))).toEqual(['name: unique'])
    expect((await asRoot.request('PATCH', `${path}/99`, { name: 7 })).status).toBe(404)
    expect((await asRoot.request('DELETE', `${path}/99`)).status).toBe(404)
  })

  it('are kept while they have holders', async () => {
    const role = await makeRole(world, support)
    const user = await makeUser(world)
    expect((await changeUser(asRoot, user, { role_id: role.id })).body.meta.role_id).toBe(role.id)
    expect((await asRoot.request('DELETE', `${path}/${role.id}`)).status).toBe(400)
    expect((await changeUser(asRoot, user, { role_id: null })).body.meta).toEqual({ revocation_errors: [] })
    expect((await asRoot.request('DELETE', `${path}/${role.id}`)).status).toBe(204)
  })

  it('are recorded by name, admin:role.create, admin:role.update and admin:role.delete', async () => {
    await asRoot.request('POST', path, { name: 'Support', acl: {} })
    await asRoot.request('PATCH', `${path}/1`, { acl: { servers: 1 }, name: 'Help' })
    await asRoot.request('PATCH', `${path}/1`, { name: 'Help' })
    await asRoot.request('DELETE', `${path}/1`)
    expect(await world.database.db.select().from(activity).orderBy(activity.id)).toMatchObject([
      { event: 'admin:role.create', actorId: root.id, properties: { name: 'Support' } },
      { event: 'admin:role.update', properties: { name: 'Help', changed: ['name', 'acl'] } },
      { event: 'admin:role.delete', properties: { name: 'Help' } },
    ])
    expect(await world.database.db.select().from(activitySubjects)).toMatchObject([
      { subjectType: 'role', subjectId: 1 },
      { subjectType: 'role', subjectId: 1 },
      { subjectType: 'role', subjectId: 1 },
    ])
  })

  it('are shown with users in meta, by include, and never as root_admin', async () => {
    const { user } = await openRoleHolder(support)
    const shown = await asRoot.request('GET', `/api/application/users/${user.id}?include=role`)
    expect(shown.body.attributes).toMatchObject({ root_admin: false })
    expect(shown.body.attributes.relationships.role.attributes.id).toBe(user.roleId)
    expect(shown.body.meta).toEqual({ role_id: user.roleId })
    const listed = await asRoot.request('GET', '/api/application/users')
    expect(listed.body.data.map(({ meta }: any) => meta)).toEqual([undefined, { role_id: user.roleId }])
    const holders = await asRoot.request('GET', `${path}?include=users`)
    expect(holders.body.data[0].attributes.relationships.users.data[0].attributes.id).toBe(user.id)
  })
})

describe('the levels of a role', () => {
  it('are those of its holder from the next request on', async () => {
    const { user, browser } = await openRoleHolder({ servers: 1 })
    const status = async (resource: string) =>
      (await browser.request('GET', `/api/application/${resource}`)).status
    expect([await status('servers'), await status('nodes'), await status('users')]).toEqual([200, 403, 403])
    await asRoot.request('PATCH', `${path}/${user.roleId}`, { acl: { nodes: 1 } })
    expect([await status('servers'), await status('nodes')]).toEqual([403, 200])
    await changeUser(asRoot, user, { role_id: null })
    expect(await status('nodes')).toBe(403)
  })

  it('bound the keys of its holder, however many levels these were stored with', async () => {
    const { user } = await openRoleHolder({ servers: 1, nodes: 3 })
    const { token } = await makeKey(world, user, { type: 'application', acl: fullAcl })
    const status = async (method: string, resource: string, body?: object) =>
      (await world.request(method, `/api/application/${resource}`, { token, ...(body ? { body } : {}) }))
        .status
    expect(await status('GET', 'servers')).toBe(200)
    expect(await status('POST', 'servers', {})).toBe(403)
    expect(await status('POST', 'nodes', {})).toBe(422)
    expect(await status('GET', 'users')).toBe(403)
    await world.database.db.update(users).set({ roleId: null }).where(eq(users.id, user.id))
    expect(await status('GET', 'servers')).toBe(403)
  })

  it('give no access to servers of others on the Client API', async () => {
    const { browser } = await openRoleHolder(fullAcl)
    expect((await browser.request('GET', '/api/client?type=admin-all')).body.data).toEqual([])
    expect((await browser.request('GET', '/outbox')).status).toBe(403)
  })

  it('AU-15: need the second factor that the role demands', async () => {
    const { user, browser } = await openRoleHolder({ servers: 1 })
    const set = (values: object) => asRoot.request('PATCH', `${path}/${user.roleId}`, values)
    await set({ two_factor_required: true })
    for (const address of ['/api/application/servers', '/api/client'])
      expect((await browser.request('GET', address)).body.errors[0].code).toBe(
        'TwoFactorAuthRequiredException',
      )
    await set({ two_factor_required: false })
    expect((await browser.request('GET', '/api/application/servers')).status).toBe(200)
    await asRoot.request('PATCH', '/api/application/settings', { two_factor: { required: 'administrators' } })
    expect((await browser.request('GET', '/api/application/servers')).status).toBe(400)
  })
})

describe('AZ-12: an administrator does not exceed their own levels', () => {
  it('creates, changes and deletes roles within their own levels', async () => {
    const { browser } = await openRoleHolder(support)
    const within = await browser.request('POST', path, { name: 'Within', acl: { users: 1, servers: 1 } })
    expect(within.status).toBe(201)
    expect((await browser.request('POST', path, { name: 'Beyond', acl: { servers: 3 } })).status).toBe(403)
    const { id } = within.body.attributes
    expect((await browser.request('PATCH', `${path}/${id}`, { acl: { nodes: 1 } })).status).toBe(403)
    const beyond = await makeRole(world, { nodes: 1 })
    for (const change of [{ name: 'Mine' }, { acl: {} }])
      expect((await browser.request('PATCH', `${path}/${beyond.id}`, change)).status).toBe(403)
    expect((await browser.request('DELETE', `${path}/${beyond.id}`)).status).toBe(403)
    expect((await browser.request('DELETE', `${path}/${id}`)).status).toBe(204)
    expect((await world.database.db.select().from(roles).where(eq(roles.id, beyond.id))).at(0)).toEqual(
      beyond,
    )
  })

  it('is bounded by the levels of a key of root, too', async () => {
    const key = await makeKey(world, root, { type: 'application', acl: { administrators: 3 } })
    const post = (acl: Acl) => world.request('POST', path, { token: key.token, body: { name: 'Made', acl } })
    expect((await post({ nodes: 1 })).status).toBe(403)
    expect((await post({ administrators: 1 })).status).toBe(201)
  })

  it('gives users roles within their own levels, and no root rights', async () => {
    const { browser, user: me } = await openRoleHolder(support)
    const plain = await makeUser(world)
    const beyond = await makeRole(world, { nodes: 1 })
    const within = await makeRole(world, { users: 1 })
    for (const target of [plain, me]) {
      expect((await changeUser(browser, target, { role_id: beyond.id })).status).toBe(403)
      expect((await changeUser(browser, target, { root_admin: true })).status).toBe(403)
    }
    const added = { username: 'new', email: 'new@example.test', first_name: 'A', last_name: 'B' }
    for (const grant of [{ root_admin: true }, { role_id: beyond.id }])
      expect((await browser.request('POST', '/api/application/users', { ...added, ...grant })).status).toBe(
        403,
      )
    const made = await browser.request('POST', '/api/application/users', { ...added, role_id: within.id })
    expect([made.status, made.body.meta.role_id]).toEqual([201, within.id])
    expect((await changeUser(browser, plain, { role_id: within.id })).body.meta.role_id).toBe(within.id)
    expect(rules(await changeUser(asRoot, plain, { role_id: 99 }))).toEqual(['role_id: exists'])
    expect(rules(await changeUser(asRoot, plain, { role_id: within.id, root_admin: true }))).toEqual([
      'role_id: prohibited',
    ])
    const promoted = await changeUser(asRoot, plain, { root_admin: true })
    expect([promoted.body.attributes.root_admin, promoted.body.meta.role_id]).toEqual([true, undefined])
  })

  it('needs write access to administrators for a role', async () => {
    const { browser } = await openRoleHolder({ users: 3, servers: 1 })
    const role = await makeRole(world, { servers: 1 })
    const plain = await makeUser(world)
    expect((await changeUser(browser, plain, { role_id: role.id })).status).toBe(403)
    expect((await changeUser(browser, plain, { first_name: 'New' })).status).toBe(200)
  })

  it('acts on no administrator above them', async () => {
    const { browser } = await openRoleHolder(support)
    const above = await makeRoleHolder(world, { nodes: 1 })
    const beside = await makeRoleHolder(world, { users: 3 })
    for (const target of [root, above]) {
      const changes = [
        { first_name: 'x' },
        { password: 'another horse' },
        { root_admin: false },
        { role_id: null },
      ]
      for (const change of changes) expect((await changeUser(browser, target, change)).status).toBe(403)
      for (const action of ['reset-password', 'reset-two-factor', 'email/verify'])
        expect((await browser.request('POST', `/api/application/users/${target.id}/${action}`)).status).toBe(
          403,
        )
      expect((await browser.request('DELETE', `/api/application/users/${target.id}`)).status).toBe(403)
      expect(await userRow(target.id)).toEqual(target)
    }
    expect((await changeUser(browser, beside, { first_name: 'x' })).status).toBe(200)
    expect((await browser.request('DELETE', `/api/application/users/${beside.id}`)).status).toBe(204)
  })

  it('neither creates keys for administrators above them, nor deletes theirs', async () => {
    const { browser, user } = await openRoleHolder({ api_keys: 3, servers: 1 })
    const above = await makeRoleHolder(world, { nodes: 1 })
    const create = (body: object) => browser.request('POST', '/api/application/keys', body)
    expect((await create({ acl: { servers: 3 } })).status).toBe(403)
    for (const { id } of [root, above])
      expect((await create({ acl: { servers: 1 }, user_id: id })).status).toBe(403)
    expect((await create({ acl: { servers: 1 } })).body.attributes.user_id).toBe(user.id)
    for (const owner of [root, above]) {
      const { row } = await makeKey(world, owner, { type: 'application', acl: {} })
      expect((await browser.request('DELETE', `/api/application/keys/${row.identifier}`)).status).toBe(403)
    }
    const { row } = await makeKey(world, user, { type: 'application', acl: fullAcl })
    expect((await browser.request('DELETE', `/api/application/keys/${row.identifier}`)).status).toBe(204)
  })
})

describe('the last root administrator', () => {
  it('is neither demoted nor deleted, by itself or by another', async () => {
    expect((await changeUser(asRoot, root, { root_admin: false })).status).toBe(400)
    const other = await makeUser(world, { rootAdmin: true })
    const asOther = await openSignedInBrowser(world, other)
    expect((await changeUser(asRoot, root, { root_admin: false })).status).toBe(200)
    expect((await changeUser(asOther, other, { root_admin: false })).status).toBe(400)
    expect((await changeUser(asOther, other, { first_name: 'x' })).status).toBe(200)
  })

  it('stays when the last two are ended at the same time', async () => {
    const roots = [root, await makeUser(world, { rootAdmin: true })]
    const browsers = [asRoot, await openSignedInBrowser(world, roots[1] as User)] as const
    const [demoted, deleted] = await Promise.all([
      changeUser(browsers[0], roots[0] as User, { root_admin: false }),
      browsers[0].request('DELETE', `/api/application/users/${roots[1]?.id}`),
    ])
    const left = await world.database.db.select().from(users).where(eq(users.rootAdmin, true))
    expect(left.length).toBe(1)
    expect([demoted.status, deleted.status].filter((status) => status < 300).length).toBe(1)
  })
})
