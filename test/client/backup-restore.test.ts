import { decodeJwt } from 'jose'
import { beforeEach, describe, expect, it } from 'vitest'
import { localCache } from '../../src/platform/local/cache.ts'
import { useStubDaemon } from '../support/stub-daemon.ts'
import { useWorld } from '../support/world.ts'
import { type BackupFixtures, createBackupFixtures } from './backup-fixtures.ts'

const world = useWorld()
const daemon = useStubDaemon()
let fixtures: BackupFixtures

beforeEach(async () => {
  fixtures = await createBackupFixtures(world, daemon)
})

const restore = (backup: { uuid: string }, body: unknown = { truncate: false }, token = fixtures.token) =>
  fixtures.send('POST', `/${backup.uuid}/restore`, { body, token })
const report = (backup: { uuid: string }, successful: boolean) =>
  fixtures.report({ uuid: `${backup.uuid}/restore` }, { successful })
const forgetThrottles = () =>
  Object.assign(world.services, { cache: localCache(() => world.clock.now.getTime()) })
const orders = () => fixtures.daemonCalls().filter(({ method }) => method === 'POST')

describe('restoring a server', () => {
  it('tells the daemon, and holds the server until it reports', async () => {
    const backup = await fixtures.makeBackup()
    const { status, text } = await restore(backup)
    expect([status, text]).toEqual([204, ''])
    expect(fixtures.daemonCalls()).toEqual([
      {
        method: 'POST',
        path: fixtures.daemonPath(`/${backup.uuid}/restore`),
        body: { adapter: 'wings', truncate_directory: false },
      },
    ])
    expect(await fixtures.statusNow()).toBe('restoring_backup')
    expect(await fixtures.waiting()).toEqual(['watch-restoration'])
    expect(await fixtures.entries()).toMatchObject([
      {
        event: 'server:backup.restore',
        properties: { name: 'Nightly', truncate: false },
        actorId: fixtures.owner.id,
      },
      { event: 'server:backup.restore-started', properties: { name: 'Nightly' }, actorId: fixtures.owner.id },
    ])
    expect((await fixtures.send('GET')).status).toBe(409)
    expect((await report(backup, true)).status).toBe(204)
    expect(await fixtures.statusNow()).toBeNull()
    expect(await fixtures.waiting()).toEqual([])
    expect((await world.events()).at(-1)).toBe('server:backup.restore-complete')
  })

  it('that is to be emptied before asks the node for the archive first', async () => {
    const backup = await fixtures.makeBackup()
    expect((await restore(backup, { truncate: '1' })).status).toBe(204)
    const [question, order] = fixtures.daemonCalls()
    const { pathname, searchParams } = new URL(question?.path ?? '', 'http://node')
    expect([question?.method, pathname]).toEqual(['GET', '/download/backup'])
    expect(decodeJwt(searchParams.get('token') ?? '')).toMatchObject({
      backup_uuid: backup.uuid,
      server_uuid: fixtures.server.uuid,
      user_uuid: fixtures.owner.uuid,
      scope: 'backup-download',
    })
    expect(order?.body).toEqual({ adapter: 'wings', truncate_directory: true })
    expect(await fixtures.entries()).toMatchObject([{ properties: { truncate: true } }, {}])
  })

  it('is refused with 400 before anything is removed when the node has lost the archive', async () => {
    const backup = await fixtures.makeBackup()
    const error = 'The requested backup was not found on this server.'
    daemon.respond(({ method }) => (method === 'GET' ? { status: 404, json: { error } } : null))
    const { status, body } = await restore(backup, { truncate: true })
    expect([status, body.errors[0].code]).toEqual([400, 'BadRequestHttpException'])
    expect(orders()).toEqual([])
    expect(await fixtures.statusNow()).toBeNull()
    expect(await world.events()).toEqual([])
    expect(await fixtures.waiting()).toEqual([])
  })

  it('goes on when the node does not know that question', async () => {
    daemon.respond(({ method }) => (method === 'GET' ? { status: 404, text: '404 page not found' } : null))
    expect((await restore(await fixtures.makeBackup(), { truncate: true })).status).toBe(204)
    expect(orders()).toHaveLength(1)
  })

  it('needs backup.restore, and to be told whether to empty the server', async () => {
    const backup = await fixtures.makeBackup()
    const otherUser = await fixtures.tokenWith([
      'backup.read',
      'backup.delete',
      'backup.download',
      'backup.create',
    ])
    expect((await restore(backup, { truncate: false }, otherUser)).status).toBe(403)
    for (const [truncate, rule] of [
      [undefined, 'required'],
      [null, 'required'],
      ['perhaps', 'boolean'],
    ]) {
      forgetThrottles()
      const { status, body } = await restore(backup, { truncate })
      expect([status, body.errors[0].meta]).toMatchObject([422, { source_field: 'truncate', rule }])
    }
    forgetThrottles()
    const friend = await fixtures.tokenWith(['backup.restore'])
    expect((await restore(backup, { truncate: false }, friend)).status).toBe(204)
  })

  it('is refused with 400 while it has any status, for any caller', async () => {
    const backup = await fixtures.makeBackup()
    for (const status of [
      'installing',
      'install_failed',
      'reinstall_failed',
      'suspended',
      'restoring_backup',
    ] as const) {
      await fixtures.setStatus(status)
      forgetThrottles()
      const answer = await restore(backup)
      expect([status, answer.status, answer.body.errors[0].code]).toEqual([
        status,
        400,
        'BadRequestHttpException',
      ])
      expect(await fixtures.statusNow()).toBe(status)
    }
    expect(daemon.calls).toEqual([])
    expect(await world.events()).toEqual([])
  })

  it('is refused with 400 from a backup that is not successful, not completed, or on no known disk', async () => {
    for (const values of [
      { isSuccessful: false },
      { completedAt: null },
      { isSuccessful: false, completedAt: null },
      { disk: 'tape' },
    ]) {
      forgetThrottles()
      expect((await restore(await fixtures.makeBackup(values))).status).toBe(400)
    }
    forgetThrottles()
    expect((await restore(await fixtures.makeBackup({ deletingAt: new Date() }))).status).toBe(404)
    expect(daemon.calls).toEqual([])
    expect(await fixtures.statusNow()).toBeNull()
  })

  it('is throttled to three in a quarter of an hour for all who reach the server', async () => {
    const backup = await fixtures.makeBackup({ isSuccessful: false })
    const friend = await fixtures.tokenWith(['backup.restore'])
    const statuses = []
    for (const token of [fixtures.token, friend, fixtures.token, friend])
      statuses.push((await restore(backup, undefined, token)).status)
    expect(statuses).toEqual([400, 400, 400, 429])
    const other = await createBackupFixtures(world, daemon)
    const elsewhere = await other.makeBackup()
    expect(
      (await other.send('POST', `/${elsewhere.uuid}/restore`, { body: { truncate: false } })).status,
    ).toBe(204)
    world.clock.advance(900)
    expect((await restore(backup)).status).toBe(400)
  })

  it('happens once, however many ask', async () => {
    const backup = await fixtures.makeBackup()
    const noThrottle = { ...world.services.cache, hit: async () => ({ hits: 1, resetsInSeconds: 1 }) }
    Object.assign(world.services, { cache: noThrottle })
    const answers = await Promise.all(Array.from({ length: 12 }, () => restore(backup)))
    forgetThrottles()
    const statuses = answers.map(({ status }) => status)
    expect(statuses.filter((status) => status === 204)).toHaveLength(1)
    expect(statuses.filter((status) => status === 400)).toHaveLength(11)
    expect(orders()).toHaveLength(1)
    expect(await fixtures.waiting()).toEqual(['watch-restoration'])
  })
})

describe('a daemon that does not restore', () => {
  const failed = ['server:backup.restore', 'server.backup.restore-failed']

  it('leaves a normal server and the record that it failed, and its error passes', async () => {
    daemon.respond({ status: 500, json: { error: 'x' } })
    const { status, body } = await restore(await fixtures.makeBackup())
    expect([status, body.errors[0].code]).toEqual([500, 'DaemonConnectionException'])
    expect(await fixtures.statusNow()).toBeNull()
    expect(await fixtures.waiting()).toEqual([])
    expect(await world.events()).toEqual(failed)
  })

  it('leaves a normal server when it says nothing', async () => {
    Object.assign(world.services, { config: { ...world.services.config, daemonTimeoutMs: 100 } })
    daemon.respond({ hang: true })
    expect((await restore(await fixtures.makeBackup())).status).toBe(504)
    expect(await fixtures.statusNow()).toBeNull()
    expect(await world.events()).toEqual(failed)
  })

  it('changes nothing when it does not say whether it has the archive', async () => {
    Object.assign(world.services, { config: { ...world.services.config, daemonTimeoutMs: 100 } })
    daemon.respond({ hang: true })
    expect((await restore(await fixtures.makeBackup(), { truncate: true })).status).toBe(504)
    expect(await fixtures.statusNow()).toBeNull()
    expect(await world.events()).toEqual([])
    expect(await fixtures.waiting()).toEqual([])
  })

  it('that reports a failure leaves a normal server, and one after it may begin', async () => {
    const backup = await fixtures.makeBackup()
    await restore(backup)
    await report(backup, false)
    expect(await fixtures.statusNow()).toBeNull()
    expect((await restore(backup)).status).toBe(204)
    expect(orders()).toHaveLength(2)
    expect(await fixtures.waiting()).toEqual(['watch-restoration'])
  })
})
