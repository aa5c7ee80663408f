import { eq } from 'drizzle-orm'
import { decodeJwt } from 'jose'
import { beforeEach, describe, expect, it } from 'vitest'
import { listMountedRoutes } from '../../src/cli/api-info.ts'
import { activity, sessions, users } from '../../src/db/schema.ts'
import type { User } from '../../src/db/tables/users.ts'
import { openApiPath } from '../../src/http/openapi.ts'
import { type Browser, openSignedInBrowser } from '../support/browser.ts'
import {
  changeOf,
  fullAcl,
  makeApplicationToken,
  makeNode,
  makeRole,
  makeRoleHolder,
  makeServer,
  makeUser,
} from '../support/factories.ts'
import { useStubDaemon } from '../support/stub-daemon.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
const daemon = useStubDaemon()
let root: User
let user: User
let browser: Browser

beforeEach(async () => {
  root = await makeUser(world, { rootAdmin: true })
  user = await makeUser(world)
  browser = await openSignedInBrowser(world, root)
})

const act = (target: { id: number } = user, by = browser) =>
  by.request('POST', `/api/application/users/${target.id}/act`)
const leave = () => browser.request('POST', '/auth/acting/leave')
const whoAmI = async () => {
  const { status, body } = await browser.request('GET', '/api/client/account')
  return status === 200 ? body.attributes.username : status
}

describe('acting for a user', () => {
  it('makes the browser that of the user, with both names in every event, until it is left', async () => {
    const server = await makeServer(world, { ownerId: user.id })
    const { status, body } = await act()
    expect([status, body.object, body.attributes.user_id]).toEqual([200, 'acting_session', user.id])
    expect(await whoAmI()).toBe(user.username)
    const rename = { name: 'Renamed' }
    const path = `/api/client/servers/${server.uuid}/settings/rename`
    expect((await browser.request('POST', path, rename)).status).toBe(204)
    expect((await leave()).status).toBe(204)
    expect(await whoAmI()).toBe(root.username)
    const entries = await world.database.db.select().from(activity).orderBy(activity.id)
    expect(entries).toMatchObject([
      {
        event: 'admin:user.act',
        actorId: root.id,
        actedForId: null,
        properties: { username: user.username },
      },
      { event: 'server:settings.rename', actorId: root.id, actedForId: user.id, serverId: server.id },
      { event: 'admin:user.leave', actorId: root.id, actedForId: null },
    ])
    const feed = await browser.request('GET', '/api/application/activity?filter[event]=rename')
    expect(feed.body.data[0].attributes).toMatchObject({
      actor: root.username,
      acted_for: user.username,
      acted_for_id: user.id,
    })
    expect((await leave()).status).toBe(400)
  })

  it('has both names in what a daemon reports of it, and in the feeds of the user', async () => {
    const node = await makeNode(world)
    const server = await makeServer(world, { ownerId: user.id, node })
    await act()
    const path = `/api/client/servers/${server.uuid}`
    const { body } = await browser.request('GET', `${path}/websocket`)
    const claims = decodeJwt(body.data.token)
    expect([user.uuid, root.uuid]).not.toContain(claims.user_uuid)
    const report = {
      user: claims.user_uuid,
      server: server.uuid,
      event: 'server:console.command',
      metadata: { command: 'list' },
      ip: '203.0.113.4',
      timestamp: world.clock.now.toISOString(),
    }
    const token = `${node.daemonTokenId}.${node.secret}`
    const reported = await world.request('POST', '/api/remote/activity', { token, body: { data: [report] } })
    expect(reported.status).toBe(200)
    const entries = await world.database.db.select().from(activity).where(eq(activity.serverId, server.id))
    expect(entries).toMatchObject([
      { event: 'server:console.command', actorId: root.id, actedForId: user.id },
    ])
    const feed = await browser.request('GET', `${path}/activity?include=actor`)
    expect(feed.body.data[0].attributes).toMatchObject({
      acted_for: user.username,
      relationships: { actor: { attributes: { username: root.username } } },
    })
  })

  it('ends at the nodes when the access of the user ends there', async () => {
    const node = await makeNode(world, { daemonListen: daemon.port })
    const server = await makeServer(world, { owner: user, node })
    await act()
    const token = await browser.request('GET', `/api/client/servers/${server.uuid}/websocket`)
    const { user_uuid: acting } = decodeJwt(token.body.data.token)
    expect(acting).not.toBe(user.uuid)
    const other = await openSignedInBrowser(world, await makeUser(world, { rootAdmin: true }))
    const { status } = await other.request('POST', `/api/application/users/${user.id}/suspend`)
    expect(status).toBe(204)
    await world.runJobs()
    const told = daemon.calls.filter(({ path }) => path === '/api/deauthorize-user').map(({ body }) => body)
    expect(told).toEqual([user.uuid, acting].map((uuid) => ({ user: uuid, servers: [server.uuid] })))
  })

  it('ends at the nodes with the rights of the administrator, but not long after it has ended', async () => {
    const node = await makeNode(world, { daemonListen: daemon.port })
    const server = await makeServer(world, { owner: user, node })
    const told = () =>
      daemon.calls
        .filter(({ path }) => path === '/api/deauthorize-user')
        .map(({ body }) => (body as { user: string }).user)
    const suspend = async () => {
      const other = await openSignedInBrowser(world, await makeUser(world, { rootAdmin: true }))
      for (const verb of ['suspend', 'unsuspend'])
        await other.request('POST', `/api/application/users/${root.id}/${verb}`)
      await world.runJobs()
    }
    await act()
    const token = await browser.request('GET', `/api/client/servers/${server.uuid}/websocket`)
    const { user_uuid: acting } = decodeJwt(token.body.data.token)
    await suspend()
    expect(told()).toEqual([root.uuid, acting])
    world.clock.advance(1801)
    await suspend()
    expect(told()).toEqual([root.uuid, acting, root.uuid])
  })

  it('is shown to the page, without the levels of the administrator', async () => {
    await act()
    const { text } = await browser.request('GET', '/')
    expect(text).toContain(`"acting":{"administrator":"${root.username}","until":"`)
    expect(text).not.toContain('"acl":')
    expect(text).toContain(`"username":"${user.username}"`)
  })

  it('ends after 15 minutes whatever it is used for, and can be left after that', async () => {
    await act()
    world.clock.advance(14 * 60)
    expect(await whoAmI()).toBe(user.username)
    world.clock.advance(61)
    expect(await whoAmI()).toBe(401)
    expect((await leave()).status).toBe(204)
    expect(await whoAmI()).toBe(root.username)
  })

  it('changes nothing about how the user signs in, nor anything else of the account', async () => {
    await act()
    const before = await world.database.db.select().from(users).where(eq(users.id, user.id))
    const isOfAccount = (path: string) => /^\/(api\/client\/account|account\/security)/.test(path)
    const changes = listMountedRoutes().filter(({ method, path }) => method !== 'GET' && isOfAccount(path))
    expect(changes.length).toBeGreaterThan(20)
    for (const { method, path } of changes) {
      const address = openApiPath(path).replace(/\{\w+\}/g, '1')
      expect((await browser.request(method, address, {})).status, `${method} ${path}`).toBe(403)
    }
    expect((await browser.request('GET', '/api/client/account/two-factor')).status).toBe(403)
    expect(await world.database.db.select().from(users).where(eq(users.id, user.id))).toEqual(before)
  })

  it('opens no Application API, also not for an administrator', async () => {
    const holder = await makeRoleHolder(world, { users: 3 })
    expect((await act(holder)).status).toBe(200)
    expect((await browser.request('GET', '/api/application/users')).status).toBe(403)
    expect((await act(user)).status).toBe(403)
  })

  it('is hidden from the sessions of the user, and ends with them', async () => {
    const own = await openSignedInBrowser(world, user)
    await act()
    const listed = await own.request('GET', '/account/security/sessions')
    expect(listed.body.sessions.length).toBe(1)
    expect((await own.request('DELETE', '/account/security/sessions')).status).toBe(204)
    expect(await whoAmI()).toBe(401)
  })

  it('ends with the rights and with the session of the administrator', async () => {
    const asOther = await openSignedInBrowser(world, await makeUser(world, { rootAdmin: true }))
    const holder = await makeRoleHolder(world, { users: 3, servers: 3 })
    const ends: [string, () => Promise<unknown>][] = [
      [
        'the role',
        () => asOther.request('PATCH', `/api/application/roles/${holder.roleId}`, { acl: fullAcl }),
      ],
      ['the session', () => asOther.request('DELETE', `/api/application/users/${holder.id}/sessions`)],
      [
        'the user',
        () =>
          asOther.request('PATCH', `/api/application/users/${user.id}`, changeOf(user, { root_admin: true })),
      ],
    ]
    for (const [name, end] of ends) {
      const [{ authVersion } = holder] = await world.database.db
        .select()
        .from(users)
        .where(eq(users.id, holder.id))
      browser = await openSignedInBrowser(world, { ...holder, authVersion })
      expect((await act()).status, name).toBe(200)
      expect(await whoAmI(), name).toBe(user.username)
      await end()
      expect(await whoAmI(), name).toBe(401)
    }
  })

  it('ends with signing out, and with it the session of the administrator', async () => {
    await act()
    expect((await browser.request('POST', '/auth/logout')).status).toBe(204)
    expect(await world.database.db.select().from(sessions)).toEqual([])
  })

  it('needs no second factor of the user', async () => {
    const { id: roleId } = await makeRole(world, {}, { twoFactorRequired: true })
    await act(await makeUser(world, { roleId }))
    expect((await browser.request('GET', '/api/client')).status).toBe(200)
  })
})

describe('AZ-12: acting for a user is refused', () => {
  it('to keys, for the caller, and for a suspended user', async () => {
    const token = await makeApplicationToken(world)
    const path = `/api/application/users/${user.id}/act`
    expect((await world.request('POST', path, { token })).status).toBe(400)
    expect((await act(root)).status).toBe(400)
    await world.database.db.update(users).set({ signInSuspendedAt: world.clock.now })
    expect((await act()).status).toBe(403)
    expect((await act({ id: 99 })).status).toBe(404)
  })

  it('for administrators above the caller, and to a role that may not write servers', async () => {
    const above = await makeRoleHolder(world, { nodes: 1 })
    const full = await openSignedInBrowser(
      world,
      await makeRoleHolder(world, { users: 3, servers: 3, administrators: 3 }),
    )
    expect((await act(root, full)).status).toBe(403)
    expect((await act(above, full)).status).toBe(403)
    const beside = await makeRoleHolder(world, { servers: 1 })
    expect((await act(beside, full)).status).toBe(200)
    const readers = await openSignedInBrowser(world, await makeRoleHolder(world, { users: 3, servers: 1 }))
    expect((await act(user, readers)).status).toBe(403)
  })
})
