import { beforeEach, describe, expect, it } from 'vitest'
import { only } from '../../src/db/database.ts'
import { backups, scheduleRuns, schedules, scheduleSteps } from '../../src/db/schema.ts'
import { startScheduledBackup } from '../../src/domain/backups/start.ts'
import { tick } from '../../src/domain/tick.ts'
import { type BackupScene, openBackupScene, set } from '../client/backup-scene.ts'
import { useStubDaemon } from '../support/stub-daemon.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
const daemon = useStubDaemon()
let scene: BackupScene

beforeEach(async () => {
  scene = await openBackupScene(world, daemon)
  world.parts.circuits.clear()
  world.clock.now = new Date('2031-03-01T12:00:00Z')
})

const db = () => world.database.db
const orders = () => scene.told().filter(({ method }) => method === 'POST')

describe('a backup of a schedule', () => {
  let steps: number[]
  beforeEach(async () => {
    const schedule = only(
      await db()
        .insert(schedules)
        .values({
          serverId: scene.server.id,
          name: 'Nightly',
          cronMinute: '0',
          cronHour: '4',
          cronDayOfMonth: '*',
          cronDayOfWeek: '*',
        })
        .returning(),
    )
    const run = only(
      await db()
        .insert(scheduleRuns)
        .values({ scheduleId: schedule.id, trigger: 'manual', dueAt: world.clock.now })
        .returning(),
    )
    const values = [1, 2, 3, 4].map((sequenceId) => ({
      runId: run.id,
      sequenceId,
      action: 'backup' as const,
    }))
    steps = (await db().insert(scheduleSteps).values(values).returning()).map(({ id }) => id)
  })
  const startOne = (step = 0, ignored = '') =>
    startScheduledBackup(world.panel, scene, { stepId: steps[step] ?? 0, ignored })

  it('is made once for each step, however often it is asked for', async () => {
    await Promise.all(Array.from({ length: 8 }, () => startOne(0, 'cache\n\n*.log')))
    await startOne()
    const [row] = await scene.rows()
    expect(await scene.rows()).toHaveLength(1)
    expect(row).toMatchObject({
      stepId: steps[0],
      isScheduled: true,
      isLocked: false,
      ignoredFiles: ['cache', '*.log'],
    })
    expect(orders()).toHaveLength(1)
    expect(await scene.entries()).toMatchObject([
      { event: 'server:backup.start', actorId: null, source: 'system', ip: null },
    ])
  })

  it('takes the place of the oldest good one that nobody locked', async () => {
    const at = (hour: number) => ({ createdAt: new Date(Date.UTC(2031, 1, 1, hour)) })
    scene = await openRoomy(4)
    const locked = await scene.makeBackup({ ...at(1), isLocked: true })
    const failed = await scene.makeBackup({ ...at(2), isSuccessful: false })
    const newer = await scene.makeBackup(at(5))
    const oldest = await scene.makeBackup(at(4))
    const running = await scene.makeBackup({ ...at(3), isSuccessful: false, completedAt: null })
    await startOne()
    const [made] = (await scene.rows()).slice(-1)
    expect((await scene.rows()).map(({ id }) => id)).toEqual([
      locked.id,
      failed.id,
      newer.id,
      running.id,
      made?.id,
    ])
    expect(scene.told().map(({ method, path }) => [method, path])).toEqual([
      ['DELETE', scene.daemonPath(`/${oldest.uuid}`)],
      ['POST', scene.daemonPath()],
    ])
    expect(await world.events()).toEqual(['server:backup.start', 'server:backup.delete'])
  })

  const openRoomy = async (backupLimit: number) => {
    await db().execute(`update servers set backup_limit = ${backupLimit} where id = ${scene.server.id}`)
    return scene
  }

  it('is refused when there is none to remove, and at a limit of 0', async () => {
    await scene.makeBackup({ isLocked: true })
    await scene.makeBackup({ isSuccessful: false, completedAt: null })
    await expect(startOne()).rejects.toMatchObject({
      status: 400,
      entries: [{ code: 'TooManyBackupsException' }],
    })
    await openRoomy(0)
    await expect(startOne()).rejects.toMatchObject({ status: 400 })
    await openRoomy(1)
    await scene.makeBackup()
    await expect(startOne()).rejects.toMatchObject({ status: 400 })
    expect((await scene.rows()).every(({ deletingAt }) => deletingAt === null)).toBe(true)
    expect(daemon.calls).toEqual([])
    expect(await world.events()).toEqual([])
  })

  it('is throttled before anything is removed', async () => {
    await startOne(0)
    await startOne(1)
    await db().update(backups).set({ isSuccessful: true, completedAt: world.clock.now })
    await expect(startOne(2)).rejects.toMatchObject({ status: 429 })
    expect((await scene.rows()).map(({ stepId }) => stepId)).toEqual([steps[0], steps[1]])
    expect(orders()).toHaveLength(2)
  })

  it('never exceeds the limit, however many steps ask at once', async () => {
    await set(world, { 'backups.throttle_limit': 0 })
    await openRoomy(3)
    const outcomes = await Promise.allSettled(steps.map((_, step) => startOne(step)))
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(3)
    expect(await scene.rows()).toHaveLength(3)
  })

  it('leaves the old one where the node does not remove it', async () => {
    const [first] = [await scene.makeBackup(), await scene.makeBackup()]
    daemon.respond({ status: 503 })
    await expect(startOne()).rejects.toMatchObject({ name: 'DaemonError', status: 503 })
    expect(await scene.rows()).toMatchObject([{ id: first.id, deletingAt: null }, { deletingAt: null }])
    expect(orders()).toEqual([])
    expect(await scene.waiting()).toEqual([])
    expect(await world.events()).toEqual([])
    daemon.respond(null)
    await startOne()
    expect(await scene.rows()).toHaveLength(2)
  })

  it('throws what the daemon says, and leaves nothing', async () => {
    daemon.respond({ status: 502, json: { error: 'Busy.' } })
    await expect(startOne()).rejects.toMatchObject({ name: 'DaemonError', status: 502, message: 'Busy.' })
    expect(await scene.rows()).toEqual([])
    expect(await world.events()).toEqual([])
  })

  it('is refused while the state of the server does not allow it', async () => {
    await scene.setStatus('suspended')
    await expect(startOne()).rejects.toMatchObject({ status: 409 })
    expect(daemon.calls).toEqual([])
  })
})

describe('a task that backs up', () => {
  it('runs as the tick has it', async () => {
    const body = {
      name: 'Hourly',
      is_active: true,
      minute: '1',
      hour: '*',
      day_of_month: '*',
      month: '*',
      day_of_week: '*',
    }
    const place = `/api/client/servers/${scene.server.uuid}/schedules`
    const options = { token: scene.token }
    const { id } = (await world.request('POST', place, { ...options, body })).body.attributes
    const task = { action: 'backup', payload: '*.tmp', time_offset: 0, continue_on_failure: false }
    await world.request('POST', `${place}/${id}/tasks`, { ...options, body: task })
    world.clock.advance(60)
    await tick(world.panel)
    expect(await scene.rows()).toMatchObject([{ isScheduled: true, ignoredFiles: ['*.tmp'] }])
    expect(orders()).toHaveLength(1)
  })
})
