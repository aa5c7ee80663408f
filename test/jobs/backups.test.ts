import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { activity, backups, jobs, nodes } from '../../src/db/schema.ts'
import { beginRemoval } from '../../src/domain/backups/remove.ts'
import { inTransaction } from '../../src/panel.ts'
import { type BackupFixtures, createBackupFixtures, success } from '../client/backup-fixtures.ts'
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
const later = async (seconds: number) => {
  world.clock.advance(seconds)
  await world.runJobs()
}
const orders = () => fixtures.daemonCalls().filter(({ method }) => method === 'POST')

/** Makes a backup as a process leaves it that crashes after the commit: before it marked the dispatch, or after. */
async function startAndDie(isMarked: boolean) {
  const { uuid } = (await fixtures.start()).body.attributes
  daemon.calls.length = 0
  await db()
    .update(backups)
    .set({ dispatchedAt: isMarked ? world.clock.now : null })
  await db().update(jobs).set({ state: 'waiting', finishedAt: null }).where(eq(jobs.name, 'start-backup'))
  return { uuid }
}

describe('a backup whose process died', () => {
  it('before it marked the order is ordered once, a minute later', async () => {
    const { uuid } = await startAndDie(false)
    await later(59)
    expect(orders()).toEqual([])
    await later(1)
    await later(60)
    expect(orders()).toEqual([
      { method: 'POST', path: fixtures.daemonPath(), body: { adapter: 'wings', uuid, ignore: '' } },
    ])
    expect((await fixtures.report({ uuid }, success)).status).toBe(204)
    await later(6 * 3600)
    expect(await fixtures.rows()).toMatchObject([{ isSuccessful: true }])
  })

  it('after it marked the order is not ordered again, and has failed after six hours', async () => {
    await startAndDie(true)
    await later(60)
    expect(orders()).toEqual([])
    await later(6 * 3600 - 61)
    expect(await fixtures.rows()).toMatchObject([{ completedAt: null }])
    await later(1)
    expect(await fixtures.rows()).toMatchObject([{ isSuccessful: false, completedAt: world.clock.now }])
    expect(await fixtures.entries()).toMatchObject([
      { event: 'server:backup.start' },
      { event: 'server:backup.fail', actorId: null, source: 'system', properties: expect.any(Object) },
    ])
    expect(await fixtures.waiting()).toEqual([])
  })

  it('has failed when its daemon says no to the job', async () => {
    await startAndDie(false)
    daemon.respond({ status: 400, json: { error: 'No.' } })
    await later(60)
    expect(await fixtures.rows()).toMatchObject([{ isSuccessful: false, completedAt: world.clock.now }])
    expect(await world.events()).toEqual(['server:backup.start', 'server:backup.fail'])
  })

  it('may be being made when its daemon says nothing to the job', async () => {
    const { uuid } = await startAndDie(false)
    await db().update(nodes).set({ daemonListen: 1 })
    await later(60)
    expect(await fixtures.rows()).toMatchObject([{ completedAt: null, dispatchedAt: world.clock.now }])
    await db().update(nodes).set({ daemonListen: daemon.port })
    await later(600)
    expect(orders()).toEqual([])
    expect((await fixtures.report({ uuid }, success)).status).toBe(204)
  })

  it('is started later when the daemon was not called', async () => {
    await startAndDie(false)
    const openUntil = world.clock.now.getTime() + 62_000
    world.services.circuitBreakers.set(fixtures.node.uuid, {
      answeredAt: 0,
      openUntil,
      cooldownMs: 5000,
      silentAt: null,
    })
    await later(60)
    expect(await fixtures.rows()).toMatchObject([{ dispatchedAt: null, completedAt: null }])
    await later(60)
    expect(orders()).toHaveLength(1)
  })

  it('is not ordered once it was removed, or has failed', async () => {
    const { uuid } = await startAndDie(false)
    await fixtures.send('DELETE', `/${uuid}`)
    await later(60)
    expect(orders()).toEqual([])
    await db().delete(activity)
    const other = await startAndDie(false)
    await fixtures.report(other, { ...success, successful: false })
    await later(60)
    expect(orders()).toEqual([])
  })

  it('is ordered by one of many who run the job', async () => {
    await startAndDie(false)
    world.clock.advance(60)
    await Promise.all(Array.from({ length: 8 }, () => world.runJobs()))
    expect(orders()).toHaveLength(1)
  })
})

describe('a removal whose process died', () => {
  it('is finished by its job, once its node is there', async () => {
    const { id, uuid } = await fixtures.makeBackup()
    await inTransaction(world.panel, (inside) => beginRemoval(inside, { id }))
    expect((await fixtures.send('GET', `/${uuid}`)).status).toBe(404)
    await later(59)
    expect(daemon.calls).toEqual([])
    daemon.respond({ status: 503 })
    await later(1)
    expect(await fixtures.rows()).toHaveLength(1)
    daemon.respond(null)
    await later(60)
    expect(await fixtures.rows()).toEqual([])
    expect(await fixtures.entries()).toMatchObject([{ event: 'server:backup.delete', actorId: null }])
    expect(daemon.calls.map(({ method }) => method)).toEqual(['DELETE', 'DELETE'])
  })
})

/** Makes a restoration as a process leaves it that crashes after the commit: before it marked the dispatch, or after. */
async function restoreAndDie(isMarked: boolean, truncate = false) {
  const backup = await fixtures.makeBackup()
  const body = { truncate }
  expect((await fixtures.send('POST', `/${backup.uuid}/restore`, { body })).status).toBe(204)
  daemon.calls.length = 0
  await db()
    .update(backups)
    .set({ restoreDispatchedAt: isMarked ? world.clock.now : null })
  await db().update(jobs).set({ state: 'waiting', finishedAt: null }).where(eq(jobs.name, 'restore-backup'))
  await db().delete(activity).where(eq(activity.event, 'server:backup.restore-started'))
  return backup
}

describe('a restoration whose process died', () => {
  it('before it marked the order is ordered once, a minute later', async () => {
    const { uuid } = await restoreAndDie(false, true)
    await later(59)
    expect(daemon.calls).toEqual([])
    await later(1)
    await later(60)
    expect(fixtures.daemonCalls()).toEqual([
      {
        method: 'POST',
        path: fixtures.daemonPath(`/${uuid}/restore`),
        body: { adapter: 'wings', truncate_directory: true },
      },
    ])
    expect(await fixtures.statusNow()).toBe('restoring_backup')
    expect(await world.events()).toEqual(['server:backup.restore', 'server:backup.restore-started'])
  })

  it('has failed when its daemon says no to the job', async () => {
    await restoreAndDie(false)
    daemon.respond({ status: 500 })
    await later(60)
    expect(await fixtures.statusNow()).toBeNull()
    expect(await world.events()).toEqual(['server:backup.restore', 'server.backup.restore-failed'])
    expect(await fixtures.waiting()).toEqual([])
  })

  it('after it marked the order is not ordered again, and has failed after two hours', async () => {
    await restoreAndDie(true)
    await later(2 * 3600 - 1)
    expect(await fixtures.statusNow()).toBe('restoring_backup')
    await later(1)
    expect(fixtures.daemonCalls().filter(({ method }) => method === 'POST')).toEqual([])
    expect(await fixtures.statusNow()).toBeNull()
    expect(await fixtures.entries()).toMatchObject([
      { event: 'server:backup.restore' },
      { event: 'server.backup.restore-failed', properties: { name: 'Nightly' }, actorId: null },
    ])
  })
})

describe('the watch of a restoration', () => {
  const restore = () => restoreAndDie(true)

  it('waits while the daemon is at it, for a day', async () => {
    await restore()
    daemon.respond({ json: { is_suspended: true } })
    await later(2 * 3600)
    expect(await fixtures.statusNow()).toBe('restoring_backup')
    for (let hours = 0; hours < 22; hours += 0.5) await later(1800)
    expect(await fixtures.statusNow()).toBe('restoring_backup')
    await later(1800)
    expect(await fixtures.statusNow()).toBeNull()
  })

  it('fails at once when the daemon has no such server', async () => {
    await restore()
    daemon.respond({ status: 404 })
    await later(2 * 3600)
    expect(await fixtures.statusNow()).toBeNull()
  })

  it('fails after some minutes when the daemon stays away', async () => {
    await restore()
    daemon.respond({ status: 503 })
    await later(2 * 3600)
    expect(await fixtures.statusNow()).toBe('restoring_backup')
    for (let minutes = 0; minutes < 20; minutes += 1) await later(60)
    expect(await fixtures.statusNow()).toBeNull()
    expect(await fixtures.waiting()).toEqual([])
  })

  it('of one that has ended says nothing of the next', async () => {
    const { uuid } = await restore()
    await later(3600)
    await world.request('POST', '/api/remote/servers/reset', { token: fixtures.node.token })
    expect((await fixtures.send('POST', `/${uuid}/restore`, { body: { truncate: false } })).status).toBe(204)
    await later(3600)
    expect(await fixtures.statusNow()).toBe('restoring_backup')
    await later(3600)
    expect(await fixtures.statusNow()).toBeNull()
  })
})
