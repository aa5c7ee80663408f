import { decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose'
import { beforeEach, describe, expect, it } from 'vitest'
import { backups } from '../../src/db/schema.ts'
import { localCache } from '../../src/platform/local/cache.ts'
import { useStubDaemon } from '../support/stub-daemon.ts'
import { useWorld } from '../support/world.ts'
import { type BackupFixtures, failure, createBackupFixtures, success } from './backup-fixtures.ts'
import { conflictsOf } from './conflicts.ts'

const world = useWorld()
const daemon = useStubDaemon()
let fixtures: BackupFixtures

beforeEach(async () => {
  world.clock.now = new Date('2031-01-09T22:10:00Z')
  fixtures = await createBackupFixtures(world, daemon)
  world.services.circuitBreakers.clear()
})

const good = {
  is_successful: true,
  is_locked: false,
  name: 'Nightly',
  ignored_files: ['*.log'],
  checksum: 'sha1:abc',
  bytes: 4096,
  created_at: '2031-01-09T22:10:00+00:00',
  completed_at: '2031-01-09T22:10:00+00:00',
}
const goodRow = { ignoredFiles: ['*.log'], checksum: 'sha1:abc', bytes: 4096 }

describe('reading backups', () => {
  it('gives each in full, in the order in which they were made, and none that is being removed', async () => {
    const first = await fixtures.makeBackup(goodRow)
    const second = await fixtures.makeBackup({ isSuccessful: false, completedAt: null })
    await fixtures.makeBackup({ deletingAt: world.clock.now })
    const other = await createBackupFixtures(world, daemon)
    await other.makeBackup()
    const { status, body } = await fixtures.send('GET')
    expect([status, body]).toEqual([
      200,
      {
        object: 'list',
        data: [
          { object: 'backup', attributes: { uuid: first.uuid, ...good } },
          {
            object: 'backup',
            attributes: {
              ...good,
              uuid: second.uuid,
              is_successful: false,
              ignored_files: [],
              checksum: null,
              bytes: 0,
              completed_at: null,
            },
          },
        ],
        meta: {
          backup_count: 2,
          pagination: { total: 2, count: 2, per_page: 20, current_page: 1, total_pages: 1, links: {} },
        },
      },
    ])
    expect((await fixtures.send('GET', `/${first.uuid}`)).body).toEqual({
      object: 'backup',
      attributes: { uuid: first.uuid, ...good },
    })
  })

  it('counts those that did not fail, whatever the page', async () => {
    for (let at = 0; at < 3; at += 1) await fixtures.makeBackup({ isSuccessful: at > 0 })
    const metaOf = async (query: string) => (await fixtures.send('GET', query)).body.meta
    expect(await metaOf('?per_page=2&page=2')).toMatchObject({
      backup_count: 2,
      pagination: { total: 3, count: 1, per_page: 2, total_pages: 2 },
    })
    expect(await metaOf('?page=9')).toMatchObject({ backup_count: 2, pagination: { total: 3, count: 0 } })
    expect(await metaOf('?per_page=1000')).toMatchObject({ pagination: { per_page: 50 } })
    expect(await metaOf('?per_page=x&page=-1')).toMatchObject({
      pagination: { per_page: 20, current_page: 1 },
    })
    await world.database.db.delete(backups)
    expect(await metaOf('')).toMatchObject({ backup_count: 0, pagination: { total: 0 } })
  })

  it('costs two statements, the credential included', async () => {
    const { uuid } = await fixtures.makeBackup()
    for (const path of ['', `/${uuid}`, `/${uuid}/download`]) {
      expect([path, await world.countStatements(() => fixtures.send('GET', path))]).toEqual([path, 2])
    }
  })

  it('finds none of another server, and none that is no uuid', async () => {
    const { uuid } = await (await createBackupFixtures(world, daemon)).makeBackup()
    for (const name of [uuid, crypto.randomUUID(), 'abc', '1']) {
      for (const [method, path, body] of [
        ['GET', ''],
        ['GET', '/download'],
        ['POST', '/lock'],
        ['DELETE', ''],
        ['POST', '/restore', { truncate: false }],
      ] as const) {
        Object.assign(world.services, { cache: localCache(() => world.clock.now.getTime()) })
        const answer = await fixtures.send(method, `/${name}${path}`, body ? { body } : {})
        expect([method, path, answer.status]).toEqual([method, path, 404])
      }
    }
    expect(await world.events()).toEqual([])
    expect(daemon.calls).toEqual([])
  })
})

describe('each route', () => {
  it('needs its own permission', async () => {
    const { uuid } = await fixtures.makeBackup()
    const needed = [
      ['backup.read', 'GET', '', 200],
      ['backup.read', 'GET', `/${uuid}`, 200],
      ['backup.download', 'GET', `/${uuid}/download`, 200],
      ['backup.delete', 'POST', `/${uuid}/lock`, 200],
      ['backup.delete', 'POST', `/${uuid}/lock`, 200],
      ['backup.create', 'POST', '', 200],
      ['backup.delete', 'DELETE', `/${uuid}`, 204],
    ] as const
    const all = ['backup.read', 'backup.download', 'backup.delete', 'backup.create', 'backup.restore']
    for (const [permission, method, path, status] of needed) {
      const others = await fixtures.tokenWith(all.filter((each) => each !== permission))
      expect((await fixtures.send(method, path, { token: others })).status).toBe(403)
      const token = await fixtures.tokenWith([permission])
      expect([method, path, (await fixtures.send(method, path, { token })).status]).toEqual([
        method,
        path,
        status,
      ])
    }
  })

  it('is refused with 409 in states that conflict, but restoring in those of the server itself', async () => {
    const { uuid } = await fixtures.makeBackup({ isLocked: true })
    const routes = [
      ['GET', '/backups'],
      ['POST', '/backups', {}],
      ['GET', `/backups/${uuid}`],
      ['GET', `/backups/${uuid}/download`],
      ['POST', `/backups/${uuid}/lock`],
      ['DELETE', `/backups/${uuid}`],
    ] as const
    const all = routes.map(([method, path]) => `${method} ${path}`)
    const found = await conflictsOf(world, fixtures.server, routes)
    for (const { state, caller, refused } of found)
      expect([state, caller, refused]).toEqual([state, caller, all])
    const cacheOf = () => localCache(() => world.clock.now.getTime())
    // One window each, or the rate limit would apply.
    Object.assign(world.services, {
      cache: { ...cacheOf(), hit: async () => ({ hits: 1, resetsInSeconds: 1 }) },
    })
    const restore = ['POST', `/backups/${uuid}/restore`, { truncate: false }] as const
    for (const { state, refused } of await conflictsOf(world, fixtures.server, [restore])) {
      expect([state, refused.length]).toEqual([
        state,
        ['maintenance', 'transferring'].includes(state) ? 1 : 0,
      ])
    }
    Object.assign(world.services, { cache: cacheOf() })
    expect(daemon.calls).toEqual([])
    expect(await world.events()).toEqual([])
  })
})

describe('locking', () => {
  it('is undone by the same call, each time with its event', async () => {
    const { uuid } = await fixtures.makeBackup(goodRow)
    for (const is_locked of [true, false]) {
      const { status, body } = await fixtures.send('POST', `/${uuid}/lock`)
      expect([status, body]).toEqual([200, { object: 'backup', attributes: { uuid, ...good, is_locked } }])
    }
    expect(await fixtures.entries()).toMatchObject([
      { event: 'server:backup.lock', properties: { name: 'Nightly' }, actorId: fixtures.owner.id },
      { event: 'server:backup.unlock', properties: { name: 'Nightly' } },
    ])
  })

  it('by an even number of callers at once leaves it as it was', async () => {
    const { uuid } = await fixtures.makeBackup()
    await Promise.all(Array.from({ length: 10 }, () => fixtures.send('POST', `/${uuid}/lock`)))
    expect(await fixtures.rows()).toMatchObject([{ isLocked: false }])
  })
})

describe('notes', () => {
  it('stand beside the backup until they are removed, each change with its event', async () => {
    const { uuid } = await fixtures.makeBackup(goodRow)
    const note = (notes: unknown) => fixtures.send('PATCH', `/${uuid}`, { body: { notes } })
    const shown = { object: 'backup', attributes: { uuid, ...good } }
    const withNotes = { ...shown, meta: { notes: 'Before the update' } }
    for (const answer of [await note('Before the update'), await note('Before the update')])
      expect([answer.status, answer.body]).toEqual([200, withNotes])
    expect((await fixtures.send('GET')).body.data).toEqual([withNotes])
    expect((await fixtures.send('GET', `/${uuid}`)).body).toEqual(withNotes)
    expect((await note('')).body).toEqual(shown)
    expect((await note(null)).body).toEqual(shown)
    for (const refused of ['x'.repeat(501), 5, undefined]) expect((await note(refused)).status).toBe(422)
    expect(await world.events()).toEqual(['server:backup.notes', 'server:backup.notes'])
  })

  it('of a backup of another server are not found', async () => {
    const other = await createBackupFixtures(world, daemon)
    const { uuid } = await other.makeBackup()
    expect((await fixtures.send('PATCH', `/${uuid}`, { body: { notes: 'x' } })).status).toBe(404)
    expect(await other.rows()).toMatchObject([{ notes: null }])
  })
})

describe('the address of an archive on the node', () => {
  it('lets its holder fetch it for 15 minutes', async () => {
    const { uuid } = await fixtures.makeBackup()
    const { status, body } = await fixtures.send('GET', `/${uuid}/download`)
    expect([status, body.object]).toEqual([200, 'signed_url'])
    const url = new URL(body.attributes.url)
    const origin = `http://127.0.0.1:${daemon.port}`
    expect([url.origin, url.pathname, [...url.searchParams.keys()]]).toEqual([
      origin,
      '/download/backup',
      ['token'],
    ])
    const token = url.searchParams.get('token') ?? ''
    const issued = Math.floor(world.clock.now.getTime() / 1000)
    expect(decodeJwt(token)).toEqual({
      backup_uuid: uuid,
      server_uuid: fixtures.server.uuid,
      user_uuid: fixtures.owner.uuid,
      scope: 'backup-download',
      unique_id: expect.stringMatching(/^[\da-f]{32}$/),
      iss: 'http://panel.test',
      aud: [origin],
      jti: decodeProtectedHeader(token).jti,
      iat: issued,
      nbf: issued - 300,
      exp: issued + 900,
    })
    const key = new TextEncoder().encode(fixtures.node.secret)
    await jwtVerify(token, key, { currentDate: world.clock.now })
    expect(await fixtures.entries()).toMatchObject([
      {
        event: 'server:backup.download',
        properties: { name: 'Nightly' },
        actorId: fixtures.owner.id,
        source: 'api',
      },
    ])
    expect(daemon.calls).toEqual([])
  })

  it('is refused with 400, and not recorded, for what is not good or on no known disk', async () => {
    for (const values of [
      { isSuccessful: false },
      { isSuccessful: false, completedAt: null },
      { disk: 'tape' },
    ]) {
      const { uuid } = await fixtures.makeBackup(values)
      const { status, body } = await fixtures.send('GET', `/${uuid}/download`)
      expect([status, body.errors[0].code]).toEqual([400, 'BadRequestHttpException'])
    }
    expect(await world.events()).toEqual([])
  })
})

describe('removing a backup', () => {
  it('removes the archive from the node, then the row, and is recorded', async () => {
    const { uuid } = await fixtures.makeBackup()
    expect((await fixtures.send('DELETE', `/${uuid}`)).status).toBe(204)
    expect(fixtures.daemonCalls()).toEqual([
      { method: 'DELETE', path: fixtures.daemonPath(`/${uuid}`), body: null },
    ])
    expect(await fixtures.rows()).toEqual([])
    expect(await fixtures.entries()).toMatchObject([
      {
        event: 'server:backup.delete',
        properties: { name: 'Nightly', failed: false },
        actorId: fixtures.owner.id,
      },
    ])
    expect(await fixtures.waiting()).toEqual([])
    expect((await fixtures.send('DELETE', `/${uuid}`)).status).toBe(404)
  })

  it('is done when the node has no such archive', async () => {
    daemon.respond({ status: 404, json: { error: 'The backup was not found.' } })
    const { uuid } = await fixtures.makeBackup({ isSuccessful: false })
    expect((await fixtures.send('DELETE', `/${uuid}`)).status).toBe(204)
    expect(await fixtures.entries()).toMatchObject([{ properties: { name: 'Nightly', failed: true } }])
  })

  it('is refused for a good one that is locked, not for one that failed or runs', async () => {
    const locked = await fixtures.makeBackup({ isLocked: true })
    const { status, body } = await fixtures.send('DELETE', `/${locked.uuid}`)
    expect([status, body.errors[0].code]).toEqual([400, 'BackupLockedException'])
    expect(daemon.calls).toEqual([])
    for (const values of [
      { isLocked: true, isSuccessful: false },
      { isLocked: true, isSuccessful: false, completedAt: null },
    ]) {
      const { uuid } = await fixtures.makeBackup(values)
      expect((await fixtures.send('DELETE', `/${uuid}`)).status).toBe(204)
    }
    expect((await fixtures.rows()).map(({ uuid }) => uuid)).toEqual([locked.uuid])
  })

  it('of a running one has its late report refused with 404', async () => {
    const { uuid } = (await fixtures.start()).body.attributes
    expect((await fixtures.send('DELETE', `/${uuid}`)).status).toBe(204)
    for (const body of [success, failure]) expect((await fixtures.report({ uuid }, body)).status).toBe(404)
    await world.runJobs()
    world.clock.advance(7 * 3600)
    await world.runJobs()
    expect(await world.events()).toEqual(['server:backup.start', 'server:backup.delete'])
  })

  it('keeps it when the node does not, and its error passes', async () => {
    const { uuid } = await fixtures.makeBackup()
    daemon.respond({ status: 500, json: { error: 'x' } })
    expect((await fixtures.send('DELETE', `/${uuid}`)).status).toBe(500)
    expect(await fixtures.rows()).toMatchObject([{ uuid, deletingAt: null }])
    expect(await fixtures.waiting()).toEqual([])
    expect(await world.events()).toEqual([])
    daemon.respond(null)
    expect((await fixtures.send('DELETE', `/${uuid}`)).status).toBe(204)
  })

  it('goes on by a job where there is no room to keep it', async () => {
    const [first] = [await fixtures.makeBackup(), await fixtures.makeBackup(), await fixtures.makeBackup()]
    daemon.respond({ status: 503 })
    expect((await fixtures.send('DELETE', `/${first.uuid}`)).status).toBe(503)
    expect((await fixtures.send('GET')).body.meta).toMatchObject({
      backup_count: 2,
      pagination: { total: 2 },
    })
    expect(await fixtures.waiting()).toEqual(['delete-backup'])
    daemon.respond(null)
    world.clock.advance(60)
    expect(await world.runJobs()).toBe(1)
    expect(await fixtures.rows()).toHaveLength(2)
    expect(await world.events()).toEqual(['server:backup.delete'])
  })

  it('happens once, however many ask', async () => {
    const { uuid } = await fixtures.makeBackup()
    const answers = await Promise.all(Array.from({ length: 10 }, () => fixtures.send('DELETE', `/${uuid}`)))
    const statuses = answers.map(({ status }) => status)
    expect(statuses.filter((status) => status === 204)).toHaveLength(1)
    expect(statuses.filter((status) => status === 404)).toHaveLength(9)
    expect(daemon.calls).toHaveLength(1)
    expect(await world.events()).toEqual(['server:backup.delete'])
  })
})
