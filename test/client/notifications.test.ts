import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { single } from '../../src/db/database.ts'
import { backups, notifications, subusers, users } from '../../src/db/schema.ts'
import type { User } from '../../src/db/tables/users.ts'
import { runTick } from '../../src/domain/jobs/tick.ts'
import { changeSettings } from '../../src/domain/settings/settings.ts'
import { openSignedInBrowser } from '../support/browser.ts'
import {
  makeApplicationToken,
  makeClientToken,
  makeNode,
  makeNotification,
  makeServer,
  makeSubuser,
  makeUser,
} from '../support/factories.ts'
import { useStubDaemon } from '../support/stub-daemon.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
const daemon = useStubDaemon()
let owner: User
let token: string
let node: Awaited<ReturnType<typeof makeNode>>
let server: Awaited<ReturnType<typeof makeServer>>

beforeEach(async () => {
  owner = await makeUser(world)
  token = await makeClientToken(world, owner)
  node = await makeNode(world, { daemonListen: daemon.port })
  server = await makeServer(world, { owner, node, name: 'Island', backupLimit: 5 })
})

const path = '/api/client/account/notifications'
async function list(as = token, query = '') {
  const { status, body } = await world.request('GET', `${path}${query}`, { token: as })
  expect(status).toBe(200)
  return { rows: body.data.map(({ attributes }: any) => attributes), meta: body.meta }
}
const kindsOf = async (as = token) => (await list(as)).rows.map(({ kind }: any) => kind)
const read = (body: object = {}, as = token) => world.request('POST', `${path}/read`, { token: as, body })
const choose = (mail: object, as = token) =>
  world.request('PUT', `${path}/mail`, { token: as, body: { mail } })
const remote = (url: string, body: object) =>
  world.request('POST', `/api/remote${url}`, { token: node.token, body })
const subjects = async () => {
  await world.runJobs()
  return (await world.mails()).map(({ to, subject }) => `${to}: ${subject}`)
}

async function makeRunningBackup(name = 'Nightly') {
  const values = { serverId: server.id, name, disk: 'wings' }
  return single(await world.database.db.insert(backups).values(values).returning())
}
const failure = { checksum: '', checksum_type: '', size: 0, successful: false, parts: null }
const success = { checksum: 'abc', checksum_type: 'sha1', size: 9, successful: true, parts: null }
async function endBackup(report: object, name?: string) {
  const { uuid } = await makeRunningBackup(name)
  expect((await remote(`/backups/${uuid}`, report)).status).toBe(204)
}

/** Makes a subuser of the server with a token. */
async function share(permissions: string[]) {
  const user = await makeUser(world)
  await makeSubuser(world, server, user, ['websocket.connect', ...permissions])
  return { user, token: await makeClientToken(world, user) }
}

describe('a backup', () => {
  it('that ends notifies the owner and the subusers who may read backups, and no other user', async () => {
    const reader = await share(['backup.read'])
    const other = await share(['file.read'])
    const root = await makeClientToken(world, await makeUser(world, { rootAdmin: true }))
    await endBackup(success)
    await endBackup(failure, 'Weekly')
    const { rows, meta } = await list()
    expect(rows).toEqual([
      {
        id: expect.any(Number),
        kind: 'backup.failed',
        count: 1,
        server: { identifier: server.uuidShort, name: 'Island' },
        properties: { name: 'Weekly' },
        created_at: expect.any(String),
        read_at: null,
      },
      expect.objectContaining({ kind: 'backup.completed', properties: { name: 'Nightly' } }),
    ])
    expect(meta.unread_count).toBe(2)
    expect(await kindsOf(reader.token)).toEqual(['backup.failed', 'backup.completed'])
    expect([await kindsOf(other.token), await kindsOf(root)]).toEqual([[], []])
  })

  it('counts failures that repeat an unread one, and begins again once that was read', async () => {
    for (const name of ['One', 'Two', 'Three']) await endBackup(failure, name)
    expect((await list()).rows).toMatchObject([{ count: 3, properties: { name: 'Three' } }])
    await read()
    await endBackup(failure, 'Four')
    const { rows, meta } = await list()
    expect(rows).toMatchObject([{ count: 1, read_at: null }, { count: 3 }])
    expect(meta.unread_count).toBe(1)
  })

  it('counts each of several failures that are reported at once', async () => {
    const running = await Promise.all([1, 2, 3, 4].map(() => makeRunningBackup()))
    await Promise.all(running.map(({ uuid }) => remote(`/backups/${uuid}`, failure)))
    expect((await list()).rows).toMatchObject([{ kind: 'backup.failed', count: 4 }])
  })

  it('whose report comes twice notifies once', async () => {
    const { uuid } = await makeRunningBackup()
    await remote(`/backups/${uuid}`, failure)
    await remote(`/backups/${uuid}`, failure)
    expect((await list()).rows).toMatchObject([{ count: 1 }])
  })
})

describe('a restoration', () => {
  it('notifies of its end', async () => {
    const { uuid } = await makeRunningBackup()
    await remote(`/backups/${uuid}/restore`, { successful: true })
    await remote(`/backups/${uuid}/restore`, { successful: true })
    await remote(`/backups/${uuid}/restore`, { successful: false })
    expect((await list()).rows).toMatchObject([
      { kind: 'restore.failed', count: 1 },
      { kind: 'restore.completed', count: 1 },
    ])
  })
})

describe('an installation', () => {
  it('notifies of its end, once for a repeated report', async () => {
    const installing = await makeServer(world, { owner, node, status: 'installing', installedAt: null })
    const report = (successful: boolean) => remote(`/servers/${installing.uuid}/install`, { successful })
    await report(false)
    await report(false)
    expect((await list()).rows).toMatchObject([{ kind: 'install.failed', count: 1 }])
    const administrators = await makeApplicationToken(world)
    await world.request('POST', `/api/application/servers/${installing.id}/reinstall`, {
      token: administrators,
    })
    await report(true)
    await report(true)
    expect(await kindsOf()).toEqual(['install.completed', 'install.failed'])
  })
})

describe('a schedule', () => {
  const at = () => `/api/client/servers/${server.uuid}/schedules`
  async function makeSchedule(name: string) {
    const cron = { minute: '*', hour: '*', day_of_month: '*', month: '*', day_of_week: '*' }
    const { body } = await world.request('POST', at(), { token, body: { name, is_active: true, ...cron } })
    const { id } = body.attributes
    const task = { action: 'command', payload: 'say hi', time_offset: 0 }
    await world.request('POST', `${at()}/${id}/tasks`, { token, body: task })
    return id as number
  }

  it('that fails notifies those who may read schedules, each schedule for itself', async () => {
    const reader = await share(['schedule.read'])
    const other = await share(['backup.read'])
    daemon.respond({ status: 500 })
    const ids = [await makeSchedule('First'), await makeSchedule('Second')]
    for (let minute = 0; minute < 2; minute += 1) {
      world.clock.advance(60)
      await runTick(world.panel)
    }
    const { rows } = await list()
    expect(rows).toHaveLength(2)
    for (const row of rows) expect(row).toMatchObject({ kind: 'schedule.failed', count: 2 })
    expect(new Set(rows.map(({ properties }: any) => properties.schedule_id))).toEqual(new Set(ids))
    expect(await kindsOf(reader.token)).toEqual(['schedule.failed', 'schedule.failed'])
    expect(await kindsOf(other.token)).toEqual([])
  })
})

describe('a suspension', () => {
  const suspend = async (verb: 'suspend' | 'unsuspend') =>
    (
      await world.request('POST', `/api/application/servers/${server.id}/${verb}`, {
        token: await makeApplicationToken(world),
      })
    ).status

  it('and its end notify everyone with access', async () => {
    const subuser = await share([])
    expect([await suspend('suspend'), await suspend('suspend'), await suspend('unsuspend')]).toEqual([
      204, 204, 204,
    ])
    for (const as of [token, subuser.token])
      expect((await list(as)).rows).toMatchObject([
        { kind: 'server.unsuspended', count: 1 },
        { kind: 'server.suspended', count: 1 },
      ])
  })

  it('that the daemon refuses takes its notifications back', async () => {
    daemon.respond({ status: 500 })
    expect(await suspend('suspend')).toBeGreaterThanOrEqual(500)
    expect(await kindsOf()).toEqual([])
  })
})

describe('an invitation', () => {
  it('notifies the invited user alone, who sees it once they have access', async () => {
    const user = await makeUser(world, { emailVerifiedAt: null })
    const invited = await makeClientToken(world, user)
    const body = { email: user.email, permissions: ['file.read'] }
    expect(
      (await world.request('POST', `/api/client/servers/${server.uuid}/users`, { token, body })).status,
    ).toBe(200)
    expect([await kindsOf(), await kindsOf(invited)]).toEqual([[], []])
    await world.database.db.update(subusers).set({ pending: false })
    expect((await list(invited)).rows).toMatchObject([
      { kind: 'server.invited', server: { identifier: server.uuidShort, name: 'Island' } },
    ])
  })
})

describe('AZ-1: access', () => {
  it('that a subuser loses hides earlier notifications, by permission and altogether', async () => {
    const { user, token: as } = await share(['backup.read'])
    await endBackup(failure)
    await makeNotification(world, server, user, { kind: 'server.suspended', permission: null })
    const rows = () => world.database.db.update(subusers)
    await rows().set({ permissions: ['websocket.connect'] })
    expect(await kindsOf(as)).toEqual(['server.suspended'])
    await world.database.db.delete(subusers)
    expect(await list(as)).toMatchObject({ rows: [], meta: { unread_count: 0, pagination: { total: 0 } } })
  })

  it('of others does not let the caller mark or see their notifications', async () => {
    const own = await makeNotification(world, server, owner)
    const otherToken = await makeClientToken(world, await makeUser(world))
    expect((await read({ ids: [own.id] }, otherToken)).status).toBe(204)
    expect((await read({}, otherToken)).status).toBe(204)
    expect((await list()).meta.unread_count).toBe(1)
    expect(await kindsOf(otherToken)).toEqual([])
  })

  it('while an administrator acts for the user does not let them change anything', async () => {
    await makeNotification(world, server, owner)
    const browser = await openSignedInBrowser(world, await makeUser(world, { rootAdmin: true }))
    expect((await browser.request('POST', `/api/application/users/${owner.id}/act`)).status).toBe(200)
    expect((await browser.request('POST', `${path}/read`, {})).status).toBe(403)
    expect((await browser.request('PUT', `${path}/mail`, { mail: { 'backup.failed': false } })).status).toBe(
      403,
    )
    expect((await list()).meta.unread_count).toBe(1)
  })
})

describe('the list', () => {
  it('comes in pages, newest first, in one statement, and marks one or all as read', async () => {
    const rows = []
    for (let at = 0; at < 5; at += 1) {
      world.clock.advance(1)
      rows.push(await makeNotification(world, server, owner))
    }
    const page = await list(token, '?per_page=2&page=2')
    expect(page.rows.map(({ id }: any) => id)).toEqual([rows[2]?.id, rows[1]?.id])
    expect(page.meta).toMatchObject({ unread_count: 5, pagination: { total: 5, total_pages: 3 } })
    expect(await world.countStatements(() => list())).toBe(1)
    await read({ ids: [rows[4]?.id] })
    expect((await list()).meta.unread_count).toBe(4)
    await Promise.all([read(), read()])
    expect((await list()).meta.unread_count).toBe(0)
    expect((await read({ ids: ['x'] })).status).toBe(422)
  })

  it('ends with the server and the account', async () => {
    await makeNotification(world, server, owner)
    const { user } = await share([])
    await makeNotification(world, server, user)
    await world.database.db.delete(users).where(eq(users.id, user.id))
    expect(await world.database.db.select().from(notifications)).toHaveLength(1)
  })
})

describe('mails', () => {
  const setMailService = (sendsMail: boolean) =>
    void Object.assign(world.services, { config: { ...world.services.config, sendsMail } })
  beforeEach(() => setMailService(true))

  it('are sent for failures, once until the failure was read, and for what the user switched on', async () => {
    const { user, token: as } = await share(['backup.read'])
    await choose({ 'backup.failed': false, 'backup.completed': true }, as)
    await endBackup(failure)
    await endBackup(failure)
    await endBackup(success)
    expect((await subjects()).toSorted()).toEqual(
      [
        `${owner.email}: A backup of Island failed`,
        `${user.email}: A backup of Island is complete`,
      ].toSorted(),
    )
  })

  it('are not sent about what was read, switched off or lost access to meanwhile', async () => {
    const { user } = await share(['backup.read'])
    await endBackup(failure)
    await read()
    await world.database.db.delete(subusers).where(eq(subusers.userId, user.id))
    expect(await subjects()).toEqual([])
  })

  it('about installations and invitations have a switch, too', async () => {
    const invited = await makeUser(world, { emailVerifiedAt: world.clock.now, passwordHash: 'x' })
    await choose({ 'server.invited': false }, await makeClientToken(world, invited))
    await choose({ 'install.completed': false })
    const body = { email: invited.email, permissions: ['file.read'] }
    await world.request('POST', `/api/client/servers/${server.uuid}/users`, { token, body })
    const installing = await makeServer(world, { owner, node, status: 'installing', installedAt: null })
    await remote(`/servers/${installing.uuid}/install`, { successful: true })
    expect(await subjects()).toEqual([])
    expect(await kindsOf()).toEqual(['install.completed'])
  })

  it('say why none leaves the panel', async () => {
    const obstacles = async () => {
      const { status, body } = await world.request('GET', `${path}/mail`, { token })
      expect(status).toBe(200)
      return Object.fromEntries(body.data.map(({ attributes: { kind, obstacle } }: any) => [kind, obstacle]))
    }
    setMailService(false)
    expect(new Set(Object.values(await obstacles()))).toEqual(new Set(['no_mail_service']))
    await endBackup(failure)
    expect(await subjects()).toEqual([])
    setMailService(true)
    await changeSettings(world.panel, { notifications: { install: false } })
    expect(await obstacles()).toMatchObject({ 'install.failed': 'switched_off', 'backup.failed': null })
  })

  it('are listed with the choice or the default, in one statement', async () => {
    const choices = async () => {
      const { body } = await world.request('GET', `${path}/mail`, { token })
      return Object.fromEntries(body.data.map(({ attributes: { kind, is_on } }: any) => [kind, is_on]))
    }
    expect(await choices()).toMatchObject({ 'backup.failed': true, 'backup.completed': false })
    await choose({ 'backup.failed': false })
    expect(await choices()).toMatchObject({ 'backup.failed': false, 'schedule.failed': true })
    expect(await world.countStatements(choices)).toBe(1)
    expect((await choose({ unknown: true })).status).toBe(422)
    expect((await choose({ 'backup.failed': 'often' })).status).toBe(422)
  })
})
