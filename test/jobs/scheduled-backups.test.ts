import { beforeEach, describe, expect, it } from 'vitest'
import { single } from '../../src/db/database.ts'
import { backups, scheduleRuns, schedules, scheduleSteps, subusers, tasks } from '../../src/db/schema.ts'
import type { Task } from '../../src/db/tables/tasks.ts'
import { startScheduledBackup } from '../../src/domain/backups/start.ts'
import { runTick } from '../../src/domain/jobs/tick.ts'
import {
  type BackupFixtures,
  createBackupFixtures,
  failure,
  set,
  success,
} from '../client/backup-fixtures.ts'
import { makeSubuser, makeUser } from '../support/factories.ts'
import { useStubDaemon } from '../support/stub-daemon.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
const daemon = useStubDaemon()
let fixtures: BackupFixtures

beforeEach(async () => {
  fixtures = await createBackupFixtures(world, daemon)
  world.services.circuitBreakers.clear()
  world.clock.now = new Date('2031-03-01T12:00:00Z')
})

const db = () => world.database.db
const orders = () => fixtures.daemonCalls().filter(({ method }) => method === 'POST')

describe('a backup of a schedule', () => {
  let steps: number[]
  let task: Task
  beforeEach(async () => {
    const schedule = single(
      await db()
        .insert(schedules)
        .values({
          serverId: fixtures.server.id,
          name: 'Nightly',
          cronMinute: '0',
          cronHour: '4',
          cronDayOfMonth: '*',
          cronDayOfWeek: '*',
        })
        .returning(),
    )
    task = single(
      await db()
        .insert(tasks)
        .values({
          scheduleId: schedule.id,
          sequenceId: 1,
          action: 'backup',
          timeOffset: 0,
          editorId: fixtures.owner.id,
        })
        .returning(),
    )
    const run = single(
      await db()
        .insert(scheduleRuns)
        .values({ scheduleId: schedule.id, trigger: 'cron', dueAt: world.clock.now })
        .returning(),
    )
    const values = [1, 2, 3, 4].map((sequenceId) => ({
      runId: run.id,
      taskId: task.id,
      sequenceId,
      action: 'backup' as const,
    }))
    steps = (await db().insert(scheduleSteps).values(values).returning()).map(({ id }) => id)
  })
  const startOne = (step = 0, ignored = '') =>
    startScheduledBackup(world.panel, fixtures, { stepId: steps[step] ?? 0, ignored })

  it('is made once for each step, however often it is asked for', async () => {
    await Promise.all(Array.from({ length: 8 }, () => startOne(0, 'cache\n\n*.log')))
    await startOne()
    const [row] = await fixtures.rows()
    expect(await fixtures.rows()).toHaveLength(1)
    expect(row).toMatchObject({
      stepId: steps[0],
      isScheduled: true,
      isLocked: false,
      ignoredFiles: ['cache', '*.log'],
    })
    expect(orders()).toHaveLength(1)
    expect(await fixtures.entries()).toMatchObject([
      { event: 'server:backup.start', actorId: null, source: 'system', ip: null },
    ])
  })

  it('replaces the oldest successful one that is not locked', async () => {
    const at = (hour: number) => ({ createdAt: new Date(Date.UTC(2031, 1, 1, hour)) })
    fixtures = await openRoomy(4)
    const locked = await fixtures.makeBackup({ ...at(1), isLocked: true })
    const failed = await fixtures.makeBackup({ ...at(2), isSuccessful: false })
    const newer = await fixtures.makeBackup(at(5))
    const oldest = await fixtures.makeBackup(at(4))
    const running = await fixtures.makeBackup({ ...at(3), isSuccessful: false, completedAt: null })
    await startOne()
    const [made] = (await fixtures.rows()).slice(-1)
    expect((await fixtures.rows()).map(({ id }) => id)).toEqual([
      locked.id,
      failed.id,
      newer.id,
      running.id,
      made?.id,
    ])
    expect(fixtures.daemonCalls().map(({ method, path }) => [method, path])).toEqual([
      ['DELETE', fixtures.daemonPath(`/${oldest.uuid}`)],
      ['POST', fixtures.daemonPath()],
    ])
    expect(await world.events()).toEqual(['server:backup.start', 'server:backup.delete'])
  })

  const openRoomy = async (backupLimit: number) => {
    await db().execute(`update servers set backup_limit = ${backupLimit} where id = ${fixtures.server.id}`)
    return fixtures
  }

  describe('whose task was last edited', () => {
    const makeFull = async () => {
      const handmade = await fixtures.makeBackup({ createdAt: new Date('2031-01-01T00:00:00Z') })
      const scheduled = await fixtures.makeBackup({ isScheduled: true })
      return { handmade, scheduled }
    }
    const edit = (editorId: number | null) => db().update(tasks).set({ editorId })
    const removed = async (rows: { id: number }[]) => {
      const left = new Set((await fixtures.rows()).map(({ id }) => id))
      return rows.filter(({ id }) => !left.has(id))
    }

    it.each([
      ['by a subuser without backup.delete', ['schedule.update', 'backup.create']],
      ['by a user without access any more', null],
      ['by an unknown user', undefined],
    ])('%s makes room among the backups of schedules only', async (_who, permissions) => {
      const { handmade, scheduled } = await makeFull()
      const friend = await makeUser(world)
      if (permissions) await makeSubuser(world, fixtures.server, friend, permissions)
      await edit(permissions === undefined ? null : friend.id)
      await startOne()
      expect(await removed([handmade, scheduled])).toEqual([scheduled])
      await db().update(backups).set({ isScheduled: false, isSuccessful: true, completedAt: world.clock.now })
      await expect(startOne(1)).rejects.toMatchObject({ entries: [{ code: 'TooManyBackupsException' }] })
    })

    it.each([
      ['a subuser with backup.delete', ['backup.delete'], false],
      ['an administrator', null, true],
    ])('by %s makes room among all', async (_who, permissions, rootAdmin) => {
      const { handmade, scheduled } = await makeFull()
      const friend = await makeUser(world, { rootAdmin })
      if (permissions) await makeSubuser(world, fixtures.server, friend, permissions)
      await edit(friend.id)
      await startOne()
      expect(await removed([handmade, scheduled])).toEqual([handmade])
    })

    it('by a subuser who lost backup.delete since makes room among the backups of schedules only', async () => {
      const { handmade, scheduled } = await makeFull()
      const friend = await makeUser(world)
      await makeSubuser(world, fixtures.server, friend, ['backup.delete'])
      await edit(friend.id)
      await db()
        .update(subusers)
        .set({ permissions: ['backup.create'] })
      await startOne()
      expect(await removed([handmade, scheduled])).toEqual([scheduled])
    })

    it('by the owner makes room among all, but not for a subuser without backup.delete who runs it', async () => {
      const { handmade, scheduled } = await makeFull()
      const friend = await makeUser(world)
      await makeSubuser(world, fixtures.server, friend, ['schedule.update', 'backup.create'])
      await db().update(scheduleRuns).set({ trigger: 'manual', requestedBy: friend.id })
      await startOne()
      expect(await removed([handmade, scheduled])).toEqual([scheduled])
    })
  })

  it('is refused when there is none to remove, and at a limit of 0', async () => {
    await fixtures.makeBackup({ isLocked: true })
    await fixtures.makeBackup({ isSuccessful: false, completedAt: null })
    await expect(startOne()).rejects.toMatchObject({
      status: 400,
      entries: [{ code: 'TooManyBackupsException' }],
    })
    await openRoomy(0)
    await expect(startOne()).rejects.toMatchObject({ status: 400 })
    await openRoomy(1)
    await fixtures.makeBackup()
    await expect(startOne()).rejects.toMatchObject({ status: 400 })
    expect((await fixtures.rows()).every(({ deletingAt }) => deletingAt === null)).toBe(true)
    expect(daemon.calls).toEqual([])
    expect(await world.events()).toEqual([])
  })

  it('is throttled before anything is removed', async () => {
    await startOne(0)
    await startOne(1)
    await db().update(backups).set({ isSuccessful: true, completedAt: world.clock.now })
    await expect(startOne(2)).rejects.toMatchObject({ status: 429 })
    expect((await fixtures.rows()).map(({ stepId }) => stepId)).toEqual([steps[0], steps[1]])
    expect(orders()).toHaveLength(2)
  })

  it('never exceeds the limit, however many steps ask at once', async () => {
    await set(world, { 'backups.throttle_limit': 0 })
    await openRoomy(3)
    const outcomes = await Promise.allSettled(steps.map((_, step) => startOne(step)))
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(3)
    expect(await fixtures.rows()).toHaveLength(3)
  })

  it('leaves the old one where the node does not remove it', async () => {
    const [first] = [await fixtures.makeBackup(), await fixtures.makeBackup()]
    daemon.respond({ status: 503 })
    await expect(startOne()).rejects.toMatchObject({ name: 'DaemonError', status: 503 })
    expect(await fixtures.rows()).toMatchObject([{ id: first.id, deletingAt: null }, { deletingAt: null }])
    expect(orders()).toEqual([])
    expect(await fixtures.waiting()).toEqual([])
    expect(await world.events()).toEqual([])
    daemon.respond(null)
    await startOne()
    expect(await fixtures.rows()).toHaveLength(2)
  })

  it('throws what the daemon says, and leaves nothing', async () => {
    daemon.respond({ status: 502, json: { error: 'Busy.' } })
    await expect(startOne()).rejects.toMatchObject({ name: 'DaemonError', status: 502, message: 'Busy.' })
    expect(await fixtures.rows()).toEqual([])
    expect(await world.events()).toEqual([])
  })

  it('is refused while the state of the server does not allow it', async () => {
    await fixtures.setStatus('suspended')
    await expect(startOne()).rejects.toMatchObject({ status: 409 })
    expect(daemon.calls).toEqual([])
  })
})

describe('a task that keeps two backups', () => {
  const at = (hour: number) => ({ createdAt: new Date(Date.UTC(2031, 1, 1, hour)) })
  /** Makes a schedule by the Client API and runs it; returns its backup, which the daemon still makes. */
  const runKeeping = async (keep_backups: number | null) => {
    const place = `/api/client/servers/${fixtures.server.uuid}/schedules`
    const token = fixtures.token
    const times = { minute: '1', hour: '*', day_of_month: '*', month: '*', day_of_week: '*' }
    const schedule = await world.request('POST', place, {
      token,
      body: { ...times, name: 'Hourly', is_active: true },
    })
    const { id } = schedule.body.attributes
    await world.request('POST', `${place}/${id}/tasks`, {
      token,
      body: { action: 'backup', time_offset: 0, keep_backups },
    })
    world.clock.advance(60)
    await runTick(world.panel)
    const [made] = (await fixtures.rows()).slice(-1)
    if (!made) throw new Error('The schedule has made no backup.')
    return made
  }
  const left = async () => (await fixtures.rows()).filter(({ deletingAt }) => !deletingAt).map(({ id }) => id)

  it('removes older ones of schedules once its own is complete, never locked ones nor those of users', async () => {
    fixtures = await createBackupFixtures(world, daemon, 20)
    const scheduled = { isScheduled: true }
    const [locked, oldest, old, newest, handmade] = [
      await fixtures.makeBackup({ ...at(1), ...scheduled, isLocked: true }),
      await fixtures.makeBackup({ ...at(2), ...scheduled }),
      await fixtures.makeBackup({ ...at(4), ...scheduled }),
      await fixtures.makeBackup({ ...at(5), ...scheduled }),
      await fixtures.makeBackup(at(3)),
    ]
    const made = await runKeeping(2)
    expect(await left()).toEqual([locked.id, oldest.id, old.id, newest.id, handmade.id, made.id])
    expect((await fixtures.report(made, success)).status).toBe(204)
    expect(await left()).toEqual([locked.id, newest.id, handmade.id, made.id])
    world.clock.advance(120)
    await runTick(world.panel)
    const deleted = fixtures.daemonCalls().filter(({ method }) => method === 'DELETE')
    expect(deleted.map(({ path }) => path).toSorted()).toEqual(
      [oldest, old].map(({ uuid }) => fixtures.daemonPath(`/${uuid}`)).toSorted(),
    )
    expect((await fixtures.rows()).map(({ id }) => id)).not.toContain(oldest.id)
    expect((await world.events()).filter((event) => event === 'server:backup.delete')).toHaveLength(2)
  })

  it('removes nothing where its own fails, nor where it keeps as many as the server may have', async () => {
    fixtures = await createBackupFixtures(world, daemon, 20)
    const rows = [2, 3, 4].map(async (hour) => fixtures.makeBackup({ ...at(hour), isScheduled: true }))
    const ids = (await Promise.all(rows)).map(({ id }) => id)
    await fixtures.report(await runKeeping(2), failure)
    expect(await left()).toEqual(expect.arrayContaining(ids))
    await db().delete(schedules)
    const made = await runKeeping(null)
    await fixtures.report(made, success)
    expect(await left()).toEqual(expect.arrayContaining([...ids, made.id]))
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
    const place = `/api/client/servers/${fixtures.server.uuid}/schedules`
    const options = { token: fixtures.token }
    const { id } = (await world.request('POST', place, { ...options, body })).body.attributes
    const task = { action: 'backup', payload: '*.tmp', time_offset: 0, continue_on_failure: false }
    await world.request('POST', `${place}/${id}/tasks`, { ...options, body: task })
    world.clock.advance(60)
    await runTick(world.panel)
    expect(await fixtures.rows()).toMatchObject([{ isScheduled: true, ignoredFiles: ['*.tmp'] }])
    expect(orders()).toHaveLength(1)
  })
})
