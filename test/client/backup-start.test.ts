import { beforeEach, describe, expect, it } from 'vitest'
import { useStubDaemon } from '../support/stub-daemon.ts'
import { useWorld } from '../support/world.ts'
import { type BackupScene, failure, openBackupScene, set, success } from './backup-scene.ts'

const world = useWorld()
const daemon = useStubDaemon()
let scene: BackupScene

beforeEach(async () => {
  scene = await openBackupScene(world, daemon)
  const { daemonTimeout: _left, ...config } = world.parts.config
  Object.assign(world.parts, { config })
  world.parts.circuits.clear()
  world.clock.now = new Date('2031-01-09T22:10:00Z')
})

describe('starting a backup', () => {
  it('tells the daemon what to leave out, and gives a running backup', async () => {
    const body = { name: ' before update ', is_locked: true, ignored: 'cache\r\n\n*.tmp\n  \n!keep.tmp' }
    const answer = await scene.start(body)
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
    expect(scene.told()).toEqual([
      {
        method: 'POST',
        path: scene.daemonPath(),
        body: { adapter: 'wings', uuid, ignore: 'cache\n*.tmp\n!keep.tmp' },
      },
    ])
    expect(await scene.rows()).toMatchObject([
      { disk: 'wings', dispatchedAt: world.clock.now, isScheduled: false },
    ])
    expect(await scene.entries()).toMatchObject([
      {
        event: 'server:backup.start',
        serverId: scene.server.id,
        actorId: scene.owner.id,
        properties: { name: 'before update', locked: true },
      },
    ])
    expect(await scene.waiting()).toEqual(['expire-backup'])
  })

  it('names what nobody named after the time in UTC', async () => {
    for (const body of [{}, { name: null }, { name: '' }, []]) {
      const scene = await openBackupScene(world, daemon)
      expect((await scene.start(body)).body.attributes.name).toBe('Backup 2031-01-09 22:10:00 UTC')
    }
  })

  it('needs backup.create, and locks only for those who may unlock', async () => {
    expect((await scene.start({}, await scene.tokenWith(['backup.read', 'backup.delete']))).status).toBe(403)
    const creator = await scene.tokenWith(['backup.create'])
    expect((await scene.start({ is_locked: true }, creator)).body.attributes.is_locked).toBe(false)
    const keeper = await scene.tokenWith(['backup.create', 'backup.delete'])
    expect((await scene.start({ is_locked: '1' }, keeper)).body.attributes.is_locked).toBe(true)
    const locked = (await scene.entries()).map(({ properties }) => properties.locked)
    expect(locked).toEqual([false, true])
  })

  it('is refused with 422 field by field', async () => {
    for (const [body, field, rule] of [
      [{ name: 'x'.repeat(192) }, 'name', 'max'],
      [{ name: 7 }, 'name', 'string'],
      [{ is_locked: 'perhaps' }, 'is_locked', 'boolean'],
      [{ ignored: ['a'] }, 'ignored', 'string'],
    ]) {
      const answer = await scene.start(body)
      expect([answer.status, answer.body.errors[0].meta]).toEqual([422, { source_field: field, rule }])
    }
    expect(await scene.rows()).toEqual([])
    expect(daemon.calls).toEqual([])
  })
})

describe('the limit of backups', () => {
  it('counts running and good ones, but not those that failed or are being removed', async () => {
    await set(world, { 'backups.throttle_limit': 0 })
    await scene.makeBackup({ isSuccessful: false })
    await scene.makeBackup({ deletingAt: world.clock.now })
    await scene.makeBackup({ isLocked: true })
    expect((await scene.start()).status).toBe(200)
    const { status, body } = await scene.start()
    expect([status, body.errors[0].code]).toEqual([400, 'TooManyBackupsException'])
    expect((await scene.rows()).length).toBe(4)
  })

  it('of 0 lets nobody have one', async () => {
    const none = await openBackupScene(world, daemon, 0)
    expect((await none.start()).body.errors[0].code).toBe('TooManyBackupsException')
    expect(daemon.calls).toEqual([])
  })

  it('is never exceeded, however many ask at once', async () => {
    await set(world, { 'backups.throttle_limit': 0 })
    const many = await openBackupScene(world, daemon, 3)
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
    scene = await openBackupScene(world, daemon, 50)
  })

  it('is two in ten minutes, and says when the newest of them is long enough ago', async () => {
    expect((await scene.start()).status).toBe(200)
    world.clock.advance(100)
    expect((await scene.start()).status).toBe(200)
    world.clock.advance(60)
    const { status, body, headers } = await scene.start()
    expect([status, body.errors[0].code, headers.get('retry-after')]).toEqual([
      429,
      'TooManyRequestsHttpException',
      '540',
    ])
    world.clock.advance(440)
    expect((await scene.start()).status).toBe(200)
  })

  it('comes before the limit', async () => {
    const full = await openBackupScene(world, daemon, 2)
    for (const _time of [1, 2]) await full.start()
    expect((await full.start()).status).toBe(429)
  })

  it('counts what was removed since, but not what failed', async () => {
    const first = (await scene.start()).body.attributes
    await scene.report(first, failure)
    const second = (await scene.start()).body.attributes
    await scene.report(second, success)
    expect((await scene.ask('DELETE', `/${first.uuid}`)).status).toBe(204)
    expect((await scene.ask('DELETE', `/${second.uuid}`)).status).toBe(204)
    expect((await scene.start()).status).toBe(200)
    expect((await scene.start()).status).toBe(429)
  })

  it('counts a success that was reported after a failure', async () => {
    const backup = (await scene.start()).body.attributes
    for (const body of [failure, success]) expect((await scene.report(backup, body)).status).toBe(204)
    expect((await scene.start()).status).toBe(200)
    expect((await scene.start()).status).toBe(429)
  })

  it('is not exceeded by many at once, and can be switched off', async () => {
    const answers = await Promise.all(Array.from({ length: 12 }, () => scene.start()))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(2)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(10)
    await set(world, { 'backups.throttle_limit': 0 })
    expect((await scene.start()).status).toBe(200)
  })

  it('is that of the settings', async () => {
    await set(world, { 'backups.throttle_limit': 1, 'backups.throttle_period': 30 })
    await scene.start()
    expect((await scene.start()).headers.get('retry-after')).toBe('30')
    world.clock.advance(30)
    expect((await scene.start()).status).toBe(200)
  })
})

describe('a daemon that does not take the order', () => {
  const nothingIsLeft = async () => {
    expect(await scene.rows()).toEqual([])
    expect(await scene.entries()).toEqual([])
  }

  it('leaves no row, no event and no job when it says no, and its words pass', async () => {
    daemon.respond({ status: 422, json: { error: 'The disk is full.' } })
    for (let time = 0; time < 3; time += 1) {
      const { status, body } = await scene.start()
      expect([status, body.errors[0].code]).toEqual([422, 'DaemonConnectionException'])
      expect(body.errors[0].detail).toContain('The disk is full.')
    }
    await nothingIsLeft()
    expect(await scene.waiting()).toEqual([])
  })

  it('has its archive removed by a job where it may have begun', async () => {
    Object.assign(world.parts, { config: { ...world.parts.config, daemonTimeout: 150 } })
    daemon.respond((call) => (call.method === 'POST' ? { hang: true } : { status: 404 }))
    const { status } = await scene.start()
    expect(status).toBe(504)
    await nothingIsLeft()
    expect(await scene.waiting()).toEqual(['discard-backup-archive'])
    const { uuid } = daemon.calls[0]?.body ?? {}
    // The node is left alone for some seconds after it did not answer.
    world.parts.circuits.clear()
    expect(await world.runJobs()).toBe(1)
    expect(daemon.calls.at(-1)).toMatchObject({ method: 'DELETE', path: scene.daemonPath(`/${uuid}`) })
    expect(await scene.waiting()).toEqual([])
  })

  it('keeps the backup when it has reported on it before its answer was missed', async () => {
    Object.assign(world.parts, { config: { ...world.parts.config, daemonTimeout: 1500 } })
    const reports: Promise<unknown>[] = []
    daemon.respond(({ method, body }) => {
      if (method === 'POST') reports.push(scene.report(body, success))
      return { hang: true }
    })
    const { status, body } = await scene.start()
    await Promise.all(reports)
    expect(status).toBe(200)
    expect(await scene.rows()).toMatchObject([{ uuid: body.attributes.uuid, isSuccessful: true }])
    expect(await world.events()).toEqual(['server:backup.start', 'server:backup.complete'])
    expect(await scene.waiting()).toEqual(['expire-backup'])
  })

  it('that is known not to answer is not asked, and nothing is left', async () => {
    const node = scene.node.uuid
    const openUntil = world.clock.now.getTime() + 20_000
    world.parts.circuits.set(node, { answeredAt: 0, openUntil, rest: 5000 })
    const { status, headers } = await scene.start()
    expect([status, headers.get('retry-after')]).toEqual([503, '20'])
    await nothingIsLeft()
    expect(daemon.calls).toEqual([])
    expect(await scene.waiting()).toEqual([])
  })
})
