import { decodeJwt } from 'jose'
import { beforeEach, describe, expect, it } from 'vitest'
import { localCache } from '../../src/platform/local/cache.ts'
import { useStubDaemon } from '../support/stub-daemon.ts'
import { useWorld } from '../support/world.ts'
import { type BackupScene, openBackupScene } from './backup-scene.ts'

const world = useWorld()
const daemon = useStubDaemon()
let scene: BackupScene

beforeEach(async () => {
  scene = await openBackupScene(world, daemon)
  const { daemonTimeout: _left, ...config } = world.parts.config
  Object.assign(world.parts, { config })
  world.parts.circuits.clear()
})

const restore = (backup: { uuid: string }, body: unknown = { truncate: false }, token = scene.token) =>
  scene.ask('POST', `/${backup.uuid}/restore`, { body, token })
const report = (backup: { uuid: string }, successful: boolean) =>
  scene.report({ uuid: `${backup.uuid}/restore` }, { successful })
const forgetThrottles = () =>
  Object.assign(world.parts, { cache: localCache(() => world.clock.now.getTime()) })
const orders = () => scene.told().filter(({ method }) => method === 'POST')

describe('restoring a server', () => {
  it('tells the daemon, and holds the server until it reports', async () => {
    const backup = await scene.makeBackup()
    const { status, text } = await restore(backup)
    expect([status, text]).toEqual([204, ''])
    expect(scene.told()).toEqual([
      {
        method: 'POST',
        path: scene.daemonPath(`/${backup.uuid}/restore`),
        body: { adapter: 'wings', truncate_directory: false },
      },
    ])
    expect(await scene.statusNow()).toBe('restoring_backup')
    expect(await scene.waiting()).toEqual(['watch-restoration'])
    expect(await scene.entries()).toMatchObject([
      {
        event: 'server:backup.restore',
        properties: { name: 'Nightly', truncate: false },
        actorId: scene.owner.id,
      },
      { event: 'server:backup.restore-started', properties: { name: 'Nightly' }, actorId: scene.owner.id },
    ])
    expect((await scene.ask('GET')).status).toBe(409)
    expect((await report(backup, true)).status).toBe(204)
    expect(await scene.statusNow()).toBeNull()
    expect(await scene.waiting()).toEqual([])
    expect((await world.events()).at(-1)).toBe('server:backup.restore-complete')
  })

  it('that is to be emptied before asks the node for the archive first', async () => {
    const backup = await scene.makeBackup()
    expect((await restore(backup, { truncate: '1' })).status).toBe(204)
    const [question, order] = scene.told()
    const { pathname, searchParams } = new URL(question?.path ?? '', 'http://node')
    expect([question?.method, pathname]).toEqual(['GET', '/download/backup'])
    expect(decodeJwt(searchParams.get('token') ?? '')).toMatchObject({
      backup_uuid: backup.uuid,
      server_uuid: scene.server.uuid,
      user_uuid: scene.owner.uuid,
      scope: 'backup-download',
    })
    expect(order?.body).toEqual({ adapter: 'wings', truncate_directory: true })
    expect(await scene.entries()).toMatchObject([{ properties: { truncate: true } }, {}])
  })

  it('is refused with 400 before anything is removed when the node has lost the archive', async () => {
    const backup = await scene.makeBackup()
    const error = 'The requested backup was not found on this server.'
    daemon.respond(({ method }) => (method === 'GET' ? { status: 404, json: { error } } : null))
    const { status, body } = await restore(backup, { truncate: true })
    expect([status, body.errors[0].code]).toEqual([400, 'BadRequestHttpException'])
    expect(orders()).toEqual([])
    expect(await scene.statusNow()).toBeNull()
    expect(await world.events()).toEqual([])
    expect(await scene.waiting()).toEqual([])
  })

  it('goes on when the node does not know that question', async () => {
    daemon.respond(({ method }) => (method === 'GET' ? { status: 404, text: '404 page not found' } : null))
    expect((await restore(await scene.makeBackup(), { truncate: true })).status).toBe(204)
    expect(orders()).toHaveLength(1)
  })

  it('needs backup.restore, and to be told whether to empty the server', async () => {
    const backup = await scene.makeBackup()
    const stranger = await scene.tokenWith([
      'backup.read',
      'backup.delete',
      'backup.download',
      'backup.create',
    ])
    expect((await restore(backup, { truncate: false }, stranger)).status).toBe(403)
    for (const [truncate, rule] of [
      [undefined, 'required'],
      [null, 'required'],
      ['perhaps', 'boolean'],
    ]) {
      forgetThrottles()
      const { status, body } = await restore(backup, { truncate })
      expect([status, body.errors[0].meta]).toEqual([422, { source_field: 'truncate', rule }])
    }
    forgetThrottles()
    const friend = await scene.tokenWith(['backup.restore'])
    expect((await restore(backup, { truncate: false }, friend)).status).toBe(204)
  })

  it('is refused with 400 while it has any status, whoever asks', async () => {
    const backup = await scene.makeBackup()
    for (const status of [
      'installing',
      'install_failed',
      'reinstall_failed',
      'suspended',
      'restoring_backup',
    ] as const) {
      await scene.setStatus(status)
      forgetThrottles()
      const answer = await restore(backup)
      expect([status, answer.status, answer.body.errors[0].code]).toEqual([
        status,
        400,
        'BadRequestHttpException',
      ])
      expect(await scene.statusNow()).toBe(status)
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
      expect((await restore(await scene.makeBackup(values))).status).toBe(400)
    }
    forgetThrottles()
    expect((await restore(await scene.makeBackup({ deletingAt: new Date() }))).status).toBe(404)
    expect(daemon.calls).toEqual([])
    expect(await scene.statusNow()).toBeNull()
  })

  it('is throttled to three in a quarter of an hour for all who reach the server', async () => {
    const backup = await scene.makeBackup({ isSuccessful: false })
    const friend = await scene.tokenWith(['backup.restore'])
    const statuses = []
    for (const token of [scene.token, friend, scene.token, friend])
      statuses.push((await restore(backup, undefined, token)).status)
    expect(statuses).toEqual([400, 400, 400, 429])
    const other = await openBackupScene(world, daemon)
    const elsewhere = await other.makeBackup()
    expect(
      (await other.ask('POST', `/${elsewhere.uuid}/restore`, { body: { truncate: false } })).status,
    ).toBe(204)
    world.clock.advance(900)
    expect((await restore(backup)).status).toBe(400)
  })

  it('happens once, however many ask', async () => {
    const backup = await scene.makeBackup()
    const noThrottle = { ...world.parts.cache, hit: async () => ({ hits: 1, resetsIn: 1 }) }
    Object.assign(world.parts, { cache: noThrottle })
    const answers = await Promise.all(Array.from({ length: 12 }, () => restore(backup)))
    forgetThrottles()
    const statuses = answers.map(({ status }) => status)
    expect(statuses.filter((status) => status === 204)).toHaveLength(1)
    expect(statuses.filter((status) => status === 400)).toHaveLength(11)
    expect(orders()).toHaveLength(1)
    expect(await scene.waiting()).toEqual(['watch-restoration'])
  })
})

describe('a daemon that does not restore', () => {
  const failed = ['server:backup.restore', 'server.backup.restore-failed']

  it('leaves a normal server and the record that it failed, and its error passes', async () => {
    daemon.respond({ status: 500, json: { error: 'x' } })
    const { status, body } = await restore(await scene.makeBackup())
    expect([status, body.errors[0].code]).toEqual([500, 'DaemonConnectionException'])
    expect(await scene.statusNow()).toBeNull()
    expect(await scene.waiting()).toEqual([])
    expect(await world.events()).toEqual(failed)
  })

  it('leaves a normal server when it says nothing', async () => {
    Object.assign(world.parts, { config: { ...world.parts.config, daemonTimeout: 100 } })
    daemon.respond({ hang: true })
    expect((await restore(await scene.makeBackup())).status).toBe(504)
    expect(await scene.statusNow()).toBeNull()
    expect(await world.events()).toEqual(failed)
  })

  it('changes nothing when it does not say whether it has the archive', async () => {
    Object.assign(world.parts, { config: { ...world.parts.config, daemonTimeout: 100 } })
    daemon.respond({ hang: true })
    expect((await restore(await scene.makeBackup(), { truncate: true })).status).toBe(504)
    expect(await scene.statusNow()).toBeNull()
    expect(await world.events()).toEqual([])
    expect(await scene.waiting()).toEqual([])
  })

  it('that reports a failure leaves a normal server, and one after it may begin', async () => {
    const backup = await scene.makeBackup()
    await restore(backup)
    await report(backup, false)
    expect(await scene.statusNow()).toBeNull()
    expect((await restore(backup)).status).toBe(204)
    expect(orders()).toHaveLength(2)
    expect(await scene.waiting()).toEqual(['watch-restoration'])
  })
})
