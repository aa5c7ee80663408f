import { beforeEach, describe, expect, it } from 'vitest'
import { useStubDaemon } from '../support/stub-daemon.ts'
import { useWorld } from '../support/world.ts'
import { type BackupFixtures, failure, createBackupFixtures, set, success } from './backup-fixtures.ts'

const world = useWorld()
const daemon = useStubDaemon()
let fixtures: BackupFixtures

beforeEach(async () => {
  fixtures = await createBackupFixtures(world, daemon)
  world.services.circuitBreakers.clear()
  world.clock.now = new Date('2031-01-09T22:10:00Z')
})

describe('starting a backup', () => {
  it('tells the daemon what to leave out, and gives a running backup', async () => {
    const body = { name: ' before update ', is_locked: true, ignored: 'cache\r\n\n*.tmp\n  \n!keep.tmp' }
    const answer = await fixtures.start(body)
    const uuid = answer.body.attributes.uuid
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        object: 'backup',
        attributes: {
          uuid: expect.stringMatching(/^[\da-f]{8}-[\da-f]{4}-4/),
          is_successful: false,
          is_locked: true,
          name: 'before update',
          ignored_files: ['cache', '*.tmp', '!keep.tmp'],
          checksum: null,
          bytes: 0,
          created_at: '2031-01-09T22:10:00+00:00',
          completed_at: null,
        },
      },
    ])
    expect(fixtures.daemonCalls()).toEqual([
      {
        method: 'POST',
        path: fixtures.daemonPath(),
        body: { adapter: 'wings', uuid, ignore: 'cache\n*.tmp\n!keep.tmp' },
      },
    ])
    expect(await fixtures.rows()).toMatchObject([
      { disk: 'wings', dispatchedAt: world.clock.now, isScheduled: false },
    ])
    expect(await fixtures.entries()).toMatchObject([
      {
        event: 'server:backup.start',
        serverId: fixtures.server.id,
        actorId: fixtures.owner.id,
        properties: { name: 'before update', locked: true },
      },
    ])
    expect(await fixtures.waiting()).toEqual(['expire-backup'])
  })

  it('names a backup without a name after the time in UTC', async () => {
    for (const body of [{}, { name: null }, { name: '' }, []]) {
      const fixtures = await createBackupFixtures(world, daemon)
      expect((await fixtures.start(body)).body.attributes.name).toBe('Backup 2031-01-09 22:10:00 UTC')
    }
  })

  it('needs backup.create, and locks only for those who may unlock', async () => {
    expect(
      (await fixtures.start({}, await fixtures.tokenWith(['backup.read', 'backup.delete']))).status,
    ).toBe(403)
    const creator = await fixtures.tokenWith(['backup.create'])
    expect((await fixtures.start({ is_locked: true }, creator)).body.attributes.is_locked).toBe(false)
    const keeper = await fixtures.tokenWith(['backup.create', 'backup.delete'])
    expect((await fixtures.start({ is_locked: '1' }, keeper)).body.attributes.is_locked).toBe(true)
    const locked = (await fixtures.entries()).map(({ properties }) => properties.locked)
    expect(locked).toEqual([false, true])
  })

  it('is refused with 422 field by field', async () => {
    for (const [body, field, rule] of [
      [{ name: 'x'.repeat(192) }, 'name', 'max'],
      [{ name: 7 }, 'name', 'string'],
      [{ is_locked: 'perhaps' }, 'is_locked', 'boolean'],
      [{ ignored: ['a'] }, 'ignored', 'string'],
    ]) {
      const answer = await fixtures.start(body)
      expect([answer.status, answer.body.errors[0].meta]).toMatchObject([422, { source_field: field, rule }])
    }
    expect(await fixtures.rows()).toEqual([])
    expect(daemon.calls).toEqual([])
  })
})

describe('the limit of backups', () => {
  it('counts running and good ones, but not those that failed or are being removed', async () => {
    await set(world, { 'backups.throttle_limit': 0 })
    await fixtures.makeBackup({ isSuccessful: false })
    await fixtures.makeBackup({ deletingAt: world.clock.now })
    await fixtures.makeBackup({ isLocked: true })
    expect((await fixtures.start()).status).toBe(200)
    const { status, body } = await fixtures.start()
    expect([status, body.errors[0].code]).toEqual([400, 'TooManyBackupsException'])
    expect((await fixtures.rows()).length).toBe(4)
  })

  it('of 0 allows no backups', async () => {
    const none = await createBackupFixtures(world, daemon, 0)
    expect((await none.start()).body.errors[0].code).toBe('TooManyBackupsException')
    expect(daemon.calls).toEqual([])
  })

  it('is never exceeded, however many ask at once', async () => {
    await set(world, { 'backups.throttle_limit': 0 })
    const many = await createBackupFixtures(world, daemon, 3)
    const answers = await Promise.all(Array.from({ length: 50 }, () => many.start()))
    const statuses = answers.map(({ status }) => status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(3)
    expect(statuses.filter((status) => status === 400)).toHaveLength(47)
    expect(await many.rows()).toHaveLength(3)
    expect(daemon.calls).toHaveLength(3)
    expect(await world.events()).toHaveLength(3)
  })
})

describe('the throttle of backups', () => {
  beforeEach(async () => {
    fixtures = await createBackupFixtures(world, daemon, 50)
  })

  it('is two in ten minutes, and says when the newest of them is long enough ago', async () => {
    expect((await fixtures.start()).status).toBe(200)
    world.clock.advance(100)
    expect((await fixtures.start()).status).toBe(200)
    world.clock.advance(60)
    const { status, body, headers } = await fixtures.start()
    expect([status, body.errors[0].code, headers.get('retry-after')]).toEqual([
      429,
      'TooManyRequestsHttpException',
      '540',
    ])
    world.clock.advance(440)
    expect((await fixtures.start()).status).toBe(200)
  })

  it('comes before the limit', async () => {
    const full = await createBackupFixtures(world, daemon, 2)
    for (const _time of [1, 2]) await full.start()
    expect((await full.start()).status).toBe(429)
  })

  it('counts what was removed since, but not what failed', async () => {
    const first = (await fixtures.start()).body.attributes
    await fixtures.report(first, failure)
    const second = (await fixtures.start()).body.attributes
    await fixtures.report(second, success)
    expect((await fixtures.send('DELETE', `/${first.uuid}`)).status).toBe(204)
    expect((await fixtures.send('DELETE', `/${second.uuid}`)).status).toBe(204)
    expect((await fixtures.start()).status).toBe(200)
    expect((await fixtures.start()).status).toBe(429)
  })

  it('counts a success that was reported after a failure', async () => {
    const backup = (await fixtures.start()).body.attributes
    for (const body of [failure, success]) expect((await fixtures.report(backup, body)).status).toBe(204)
    expect((await fixtures.start()).status).toBe(200)
    expect((await fixtures.start()).status).toBe(429)
  })

  it('is not exceeded by many at once, and can be switched off', async () => {
    const answers = await Promise.all(Array.from({ length: 12 }, () => fixtures.start()))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(2)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(10)
    await set(world, { 'backups.throttle_limit': 0 })
    expect((await fixtures.start()).status).toBe(200)
  })

  it('is that of the settings', async () => {
    await set(world, { 'backups.throttle_limit': 1, 'backups.throttle_period': 30 })
    await fixtures.start()
    expect((await fixtures.start()).headers.get('retry-after')).toBe('30')
    world.clock.advance(30)
    expect((await fixtures.start()).status).toBe(200)
  })
})

describe('a daemon that does not take the order', () => {
  const nothingIsLeft = async () => {
    expect(await fixtures.rows()).toEqual([])
    expect(await fixtures.entries()).toEqual([])
  }

  it('leaves no row, no event and no job when it says no, and its words pass', async () => {
    daemon.respond({ status: 422, json: { error: 'The disk is full.' } })
    for (let time = 0; time < 3; time += 1) {
      const { status, body } = await fixtures.start()
      expect([status, body.errors[0].code]).toEqual([422, 'DaemonConnectionException'])
      expect(body.errors[0].detail).toContain('The disk is full.')
    }
    await nothingIsLeft()
    expect(await fixtures.waiting()).toEqual([])
  })

  it('has its archive removed by a job where it may have begun', async () => {
    daemon.respond((call) => (call.method === 'POST' ? { drop: true } : { status: 404 }))
    const { status } = await fixtures.start()
    expect(status).toBe(504)
    await nothingIsLeft()
    expect(await fixtures.waiting()).toEqual(['discard-backup-archive'])
    const { uuid } = daemon.calls[0]?.body ?? {}
    expect(await world.runJobs()).toBe(1)
    expect(daemon.calls.at(-1)).toMatchObject({ method: 'DELETE', path: fixtures.daemonPath(`/${uuid}`) })
    expect(await fixtures.waiting()).toEqual([])
  })

  it('keeps the backup when it has reported on it before its answer was missed', async () => {
    daemon.respond(async ({ method, body }) => {
      if (method === 'POST') await fixtures.report(body, success)
      return { drop: true }
    })
    const { status, body } = await fixtures.start()
    expect(status).toBe(200)
    expect(await fixtures.rows()).toMatchObject([{ uuid: body.attributes.uuid, isSuccessful: true }])
    expect(await world.events()).toEqual(['server:backup.start', 'server:backup.complete'])
    expect(await fixtures.waiting()).toEqual(['expire-backup'])
  })

  it('that is known not to answer is not asked, and nothing is left', async () => {
    const node = fixtures.node.uuid
    const openUntil = world.clock.now.getTime() + 20_000
    world.services.circuitBreakers.set(node, { answeredAt: 0, openUntil, cooldownMs: 5000, silentAt: null })
    const { status, headers } = await fixtures.start()
    expect([status, headers.get('retry-after')]).toEqual([503, '20'])
    await nothingIsLeft()
    expect(daemon.calls).toEqual([])
    expect(await fixtures.waiting()).toEqual([])
  })
})
