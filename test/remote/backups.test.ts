import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { single } from '../../src/db/database.ts'
import { activity, activitySubjects, backups, jobs, servers } from '../../src/db/schema.ts'
import { makeNode, makeServer } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
const failure = { checksum: '', checksum_type: '', size: 0, successful: false, parts: null }
let node: Awaited<ReturnType<typeof makeNode>>
let server: Awaited<ReturnType<typeof makeServer>>

beforeEach(async () => {
  node = await makeNode(world)
  server = await makeServer(world, { node, backupLimit: 2 })
})

const makeBackup = async (values: Partial<typeof backups.$inferInsert> = {}) =>
  single(
    await world.database.db
      .insert(backups)
      .values({ serverId: server.id, name: 'Nightly', disk: 'wings', isLocked: true, ...values })
      .returning(),
  )

const rowOf = async ({ id }: { id: number }) => {
  const [row] = await world.database.db.select().from(backups).where(eq(backups.id, id))
  return row
}

const report = (backup: { uuid: string }, body: unknown, token = node.token) =>
  world.request('POST', `/api/remote/backups/${backup.uuid}`, { token, body })
const jobNames = async () => (await world.database.db.select().from(jobs)).map(({ name }) => name)

describe('the report of a backup on the node', () => {
  const success = { checksum: 'abc', checksum_type: 'sha1', size: 4096, successful: true, parts: null }

  it('completes it without a word to the object store', async () => {
    const backup = await makeBackup()
    expect((await report(backup, success)).status).toBe(204)
    expect(await rowOf(backup)).toMatchObject({
      isSuccessful: true,
      isLocked: true,
      checksum: 'sha1:abc',
      bytes: 4096,
      completedAt: world.clock.now,
    })
    const [entry] = await world.database.db.select().from(activity)
    expect(entry).toMatchObject({
      event: 'server:backup.complete',
      serverId: server.id,
      nodeId: node.id,
      actorId: null,
      source: 'system',
      properties: { name: 'Nightly' },
    })
    const [subject] = await world.database.db.select().from(activitySubjects)
    expect(subject).toEqual({ activityId: entry?.id, subjectType: 'backup', subjectId: backup.id })
  })

  it('of a failure unlocks it, may come again without effect, and may still be followed by a success', async () => {
    const backup = await makeBackup({ checksum: 'x:y', bytes: 5 })
    expect((await report(backup, failure)).status).toBe(204)
    const failed = await rowOf(backup)
    expect(failed).toMatchObject({
      isSuccessful: false,
      isLocked: false,
      bytes: 0,
      checksum: null,
      completedAt: world.clock.now,
    })
    world.clock.advance(5)
    expect((await report(backup, failure)).status).toBe(204)
    expect(await rowOf(backup)).toEqual(failed)
    expect((await report(backup, success)).status).toBe(204)
    expect(await rowOf(backup)).toMatchObject({ isSuccessful: true, bytes: 4096 })
    expect(await world.events()).toEqual(['server:backup.fail', 'server:backup.complete'])
    expect(await jobNames()).toEqual([])
  })

  it('of a success after a failure is refused with 400 when others have taken all places', async () => {
    const backup = await makeBackup()
    await report(backup, failure)
    for (const name of ['One', 'Other']) await makeBackup({ name })
    const failed = await rowOf(backup)
    expect((await report(backup, success)).status).toBe(400)
    expect(await rowOf(backup)).toEqual(failed)
    expect(await world.events()).toEqual(['server:backup.fail'])
  })

  it.each([
    ['success, failure, success', [true, false, true], [204, 400, 400], true],
    ['failure, success, failure', [false, true, false], [204, 204, 400], true],
    ['failure, failure, success, success', [false, false, true, true], [204, 204, 204, 400], true],
    ['failure, failure', [false, false], [204, 204], false],
  ] as const)(
    'in the order %s leaves what the table says',
    async (_order, reports, statuses, isSuccessful) => {
      const backup = await makeBackup()
      const answers = []
      for (const successful of reports) answers.push(await report(backup, successful ? success : failure))
      expect(answers.map(({ status }) => status)).toEqual(statuses)
      expect(await rowOf(backup)).toMatchObject({ isSuccessful, isLocked: isSuccessful && reports[0] })
    },
  )

  it('of many kinds at once leaves one outcome', async () => {
    const backup = await makeBackup()
    const bodies = [success, failure, success, failure, success, failure]
    const answers = await Promise.all(bodies.map((body) => report(backup, body)))
    expect(answers.every(({ status }) => [204, 400].includes(status))).toBe(true)
    expect(await rowOf(backup)).toMatchObject({ isSuccessful: true, bytes: 4096 })
    const recorded = await world.events()
    expect(recorded.filter((event) => event === 'server:backup.complete')).toHaveLength(1)
    expect(recorded.filter((event) => event === 'server:backup.fail').length).toBeLessThan(2)
  })

  it('is refused with 400 once it is successful, whatever it says', async () => {
    const backup = await makeBackup()
    await report(backup, success)
    const before = await rowOf(backup)
    for (const body of [success, failure]) expect((await report(backup, body)).status).toBe(400)
    expect(await rowOf(backup)).toEqual(before)
  })

  it('is accepted once when it comes twice at once', async () => {
    const backup = await makeBackup()
    const answers = await Promise.all([report(backup, success), report(backup, success)])
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([204, 400]))
    expect(await world.events()).toEqual(['server:backup.complete'])
  })

  it('is refused for a backup that is not there or not of the node', async () => {
    const backup = await makeBackup()
    const other = await makeNode(world)
    for (const body of [success, failure]) {
      expect((await report(backup, body, other.token)).status).toBe(403)
      expect((await report({ uuid: crypto.randomUUID() }, body)).status).toBe(404)
      expect((await report({ uuid: '1' }, body)).status).toBe(404)
      const removed = await makeBackup({ deletingAt: new Date() })
      expect((await report(removed, body)).status).toBe(404)
    }
    expect(await rowOf(backup)).toEqual(backup)
    expect(await world.events()).toEqual([])
  })

  it('needs checksum and size when it was successful', async () => {
    const backup = await makeBackup()
    const cases: [object, string][] = [
      [{ ...success, successful: undefined }, 'successful'],
      [{ ...success, successful: 'perhaps' }, 'successful'],
      [{ ...success, checksum: '' }, 'checksum'],
      [{ ...success, checksum_type: null }, 'checksum_type'],
      [{ ...success, size: undefined }, 'size'],
      [{ ...success, size: -1 }, 'size'],
      [{ ...success, size: 1.5 }, 'size'],
      [{ ...success, parts: [{ etag: '"x"' }] }, 'parts.0.part_number'],
      [{ ...success, parts: [{ etag: 7, part_number: 1 }] }, 'parts.0.etag'],
      [{ ...success, parts: {} }, 'parts'],
    ]
    for (const [body, field] of cases) {
      const answer = await report(backup, body)
      expect([body, answer.status]).toEqual([body, 422])
      expect(answer.body.errors[0].meta.source_field).toBe(field)
    }
    const parts = Array.from({ length: 5000 }, (_, at) => ({
      etag: `"${'a'.repeat(32)}"`,
      part_number: at + 1,
    }))
    expect((await report(backup, { ...success, parts })).status).toBe(204)
  })
})

describe('the report of a restoration', () => {
  const restored = (backup: { uuid: string }, body: unknown, token = node.token) =>
    world.request('POST', `/api/remote/backups/${backup.uuid}/restore`, { token, body })
  const statusNow = async () =>
    (await world.database.db.select().from(servers).where(eq(servers.id, server.id)))[0]?.status
  const setStatus = (status: (typeof server)['status']) =>
    world.database.db.update(servers).set({ status }).where(eq(servers.id, server.id))

  it.each([
    [true, 'server:backup.restore-complete'],
    [false, 'server.backup.restore-failed'],
  ])('that was successful: %s ends it and records %s', async (successful, event) => {
    const backup = await makeBackup({ isSuccessful: true, completedAt: new Date() })
    await setStatus('restoring_backup')
    expect((await restored(backup, { successful })).status).toBe(204)
    expect(await statusNow()).toBeNull()
    expect(await world.database.db.select().from(activity)).toMatchObject([
      { event, serverId: server.id, nodeId: node.id, source: 'system', properties: { name: 'Nightly' } },
    ])
    expect(await jobNames()).toEqual([])
  })

  it.each([null, 'installing', 'install_failed', 'reinstall_failed', 'suspended'] as const)(
    'leaves a server alone that is %s, and is recorded once when it comes again',
    async (status) => {
      const backup = await makeBackup({ isSuccessful: true })
      await setStatus(status)
      for (let time = 0; time < 2; time += 1) {
        expect((await restored(backup, { successful: true })).status).toBe(204)
        expect(await statusNow()).toBe(status)
      }
      expect(await world.events()).toEqual(['server:backup.restore-complete'])
    },
  )

  it('has the daemon fetch a suspended server again, a little later', async () => {
    await setStatus('suspended')
    await restored(await makeBackup(), { successful: false })
    const [job] = await world.database.db.select().from(jobs)
    expect(job).toMatchObject({ name: 'sync-server', payload: { serverId: server.id } })
    expect(job?.runAt.getTime()).toBe(world.clock.now.getTime() + 15_000)
  })

  it('without a word is one of a failure', async () => {
    await setStatus('restoring_backup')
    for (const body of [{}, { successful: null }]) {
      expect((await restored(await makeBackup(), body)).status).toBe(204)
    }
    expect(await statusNow()).toBeNull()
    expect(await world.events()).toEqual(['server.backup.restore-failed'])
    expect((await restored(await makeBackup(), { successful: 'yes' })).status).toBe(422)
  })

  it('without a body, or with null in place of one, is refused with 400 and ends nothing', async () => {
    await setStatus('restoring_backup')
    const backup = await makeBackup()
    for (const raw of ['', ' ', 'null']) {
      const path = `/api/remote/backups/${backup.uuid}/restore?successful=true`
      expect((await world.request('POST', path, { token: node.token, raw })).status, raw).toBe(400)
    }
    expect(await statusNow()).toBe('restoring_backup')
    expect(await world.events()).toEqual([])
  })

  it('is refused for a backup that is not there or not of the node', async () => {
    await setStatus('restoring_backup')
    const other = await makeNode(world)
    expect((await restored(await makeBackup(), { successful: true }, other.token)).status).toBe(403)
    expect((await restored({ uuid: crypto.randomUUID() }, { successful: true })).status).toBe(404)
    expect((await restored({ uuid: 'abc' }, { successful: true })).status).toBe(404)
    expect(await statusNow()).toBe('restoring_backup')
    expect(await world.events()).toEqual([])
  })
})
