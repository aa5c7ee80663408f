import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { activity, backups, jobs, nodes } from '../../src/db/schema.ts'
import { beginRemoval } from '../../src/domain/backups/remove.ts'
import { inTransaction } from '../../src/panel.ts'
import { type BackupScene, openBackupScene, success } from '../client/backup-scene.ts'
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
const later = async (seconds: number) => {
  world.clock.advance(seconds)
  await world.runJobs()
}
const orders = () => scene.told().filter(({ method }) => method === 'POST')

/** A backup as a process leaves it that dies after the commit: before it marked the order, or after that. */
async function startAndDie(isMarked: boolean) {
  const { uuid } = (await scene.start()).body.attributes
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
      { method: 'POST', path: scene.daemonPath(), body: { adapter: 'wings', uuid, ignore: '' } },
    ])
    expect((await scene.report({ uuid }, success)).status).toBe(204)
    await later(6 * 3600)
    expect(await scene.rows()).toMatchObject([{ isSuccessful: true }])
  })

  it('after it marked the order is not ordered again, and has failed after six hours', async () => {
    await startAndDie(true)
    await later(60)
    expect(orders()).toEqual([])
    await later(6 * 3600 - 61)
    expect(await scene.rows()).toMatchObject([{ completedAt: null }])
    await later(1)
    expect(await scene.rows()).toMatchObject([{ isSuccessful: false, completedAt: world.clock.now }])
    expect(await scene.entries()).toMatchObject([
      { event: 'server:backup.start' },
      { event: 'server:backup.fail', actorId: null, source: 'system', properties: expect.any(Object) },
    ])
    expect(await scene.waiting()).toEqual([])
  })

  it('has failed when its daemon says no to the job', async () => {
    await startAndDie(false)
    daemon.respond({ status: 400, json: { error: 'No.' } })
    await later(60)
    expect(await scene.rows()).toMatchObject([{ isSuccessful: false, completedAt: world.clock.now }])
    expect(await world.events()).toEqual(['server:backup.start', 'server:backup.fail'])
  })

  it('may be being made when its daemon says nothing to the job', async () => {
    const { uuid } = await startAndDie(false)
    await db().update(nodes).set({ daemonListen: 1 })
    await later(60)
    expect(await scene.rows()).toMatchObject([{ completedAt: null, dispatchedAt: world.clock.now }])
    await db().update(nodes).set({ daemonListen: daemon.port })
    await later(600)
    expect(orders()).toEqual([])
    expect((await scene.report({ uuid }, success)).status).toBe(204)
  })

  it('is ordered later when nobody asked the daemon', async () => {
    await startAndDie(false)
    const openUntil = world.clock.now.getTime() + 62_000
    world.parts.circuits.set(scene.node.uuid, { answeredAt: 0, openUntil, rest: 5000 })
    await later(60)
    expect(await scene.rows()).toMatchObject([{ dispatchedAt: null, completedAt: null }])
    await later(60)
    expect(orders()).toHaveLength(1)
  })

  it('is not ordered once it was removed, or has failed', async () => {
    const { uuid } = await startAndDie(false)
    await scene.ask('DELETE', `/${uuid}`)
    await later(60)
    expect(orders()).toEqual([])
    await db().delete(activity)
    const other = await startAndDie(false)
    await scene.report(other, { ...success, successful: false })
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
    const { id, uuid } = await scene.makeBackup()
    await inTransaction(world.panel, (inside) => beginRemoval(inside, { id }))
    expect((await scene.ask('GET', `/${uuid}`)).status).toBe(404)
    await later(59)
    expect(daemon.calls).toEqual([])
    daemon.respond({ status: 503 })
    await later(1)
    expect(await scene.rows()).toHaveLength(1)
    daemon.respond(null)
    await later(60)
    expect(await scene.rows()).toEqual([])
    expect(await scene.entries()).toMatchObject([{ event: 'server:backup.delete', actorId: null }])
    expect(daemon.calls.map(({ method }) => method)).toEqual(['DELETE', 'DELETE'])
  })
})

/** A restoration as a process leaves it that dies after the commit: before it marked the order, or after that. */
async function restoreAndDie(isMarked: boolean, truncate = false) {
  const backup = await scene.makeBackup()
  const body = { truncate }
  expect((await scene.ask('POST', `/${backup.uuid}/restore`, { body })).status).toBe(204)
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
    expect(scene.told()).toEqual([
      {
        method: 'POST',
        path: scene.daemonPath(`/${uuid}/restore`),
        body: { adapter: 'wings', truncate_directory: true },
      },
    ])
    expect(await scene.statusNow()).toBe('restoring_backup')
    expect(await world.events()).toEqual(['server:backup.restore', 'server:backup.restore-started'])
  })

  it('has failed when its daemon says no to the job', async () => {
    await restoreAndDie(false)
    daemon.respond({ status: 500 })
    await later(60)
    expect(await scene.statusNow()).toBeNull()
    expect(await world.events()).toEqual(['server:backup.restore', 'server.backup.restore-failed'])
    expect(await scene.waiting()).toEqual([])
  })

  it('after it marked the order is not ordered again, and has failed after two hours', async () => {
    await restoreAndDie(true)
    await later(2 * 3600 - 1)
    expect(await scene.statusNow()).toBe('restoring_backup')
    await later(1)
    expect(scene.told().filter(({ method }) => method === 'POST')).toEqual([])
    expect(await scene.statusNow()).toBeNull()
    expect(await scene.entries()).toMatchObject([
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
    expect(await scene.statusNow()).toBe('restoring_backup')
    for (let hours = 0; hours < 22; hours += 0.5) await later(1800)
    expect(await scene.statusNow()).toBe('restoring_backup')
    await later(1800)
    expect(await scene.statusNow()).toBeNull()
  })

  it('gives up at once when the daemon has no such server', async () => {
    await restore()
    daemon.respond({ status: 404 })
    await later(2 * 3600)
    expect(await scene.statusNow()).toBeNull()
  })

  it('gives up after some minutes when the daemon stays away', async () => {
    await restore()
    daemon.respond({ status: 503 })
    await later(2 * 3600)
    expect(await scene.statusNow()).toBe('restoring_backup')
    for (let minutes = 0; minutes < 20; minutes += 1) await later(60)
    expect(await scene.statusNow()).toBeNull()
    expect(await scene.waiting()).toEqual([])
  })

  it('of one that has ended says nothing of the next', async () => {
    const { uuid } = await restore()
    await later(3600)
    await world.request('POST', '/api/remote/servers/reset', { token: scene.node.token })
    expect((await scene.ask('POST', `/${uuid}/restore`, { body: { truncate: false } })).status).toBe(204)
    await later(3600)
    expect(await scene.statusNow()).toBe('restoring_backup')
    await later(3600)
    expect(await scene.statusNow()).toBeNull()
  })
})
