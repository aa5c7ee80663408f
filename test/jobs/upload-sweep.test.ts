import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { backups, jobs } from '../../src/db/schema.ts'
import { sweepUploads } from '../../src/domain/backups/uploads.ts'
import { type BackupFixtures, createBackupFixtures, set, useStore } from '../client/backup-fixtures.ts'
import { openStubStore, openTestStore, type TestStore } from '../support/object-store.ts'
import { startStubDaemon, type StubDaemon } from '../support/stub-daemon.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
const archiveType = 'application/x-gzip'
const day = 86_400
let daemon: StubDaemon
let s3: TestStore
let store: ReturnType<typeof useStore>
let fixtures: BackupFixtures

beforeAll(async () => {
  daemon = await startStubDaemon()
})
afterAll(() => daemon.close())

beforeEach(async () => {
  s3 = await openTestStore()
  store = useStore(world, s3)
  fixtures = await createBackupFixtures(world, daemon)
  await set(world, { 'backups.default_disk': 's3' })
  return s3.close
})

const newKey = () => `${crypto.randomUUID()}/${crypto.randomUUID()}.tar.gz`
const open = async (key: string) => ({ key, uploadId: await store.multipart.create(key, archiveType) })
const openKeys = async () => {
  const keys: string[] = []
  for (let page = await store.multipart.list(null); ; page = await store.multipart.list(page.next)) {
    keys.push(...page.uploads.map(({ key }) => key))
    if (!page.next) return keys
  }
}
const sweep = async () =>
  (await world.database.db.select().from(jobs).where(eq(jobs.name, 'sweep-uploads'))).at(-1)

describe('open uploads', () => {
  it('are listed page by page, with when they were begun', async () => {
    const made = [await open(newKey()), await open(newKey()), await open(newKey())]
    const first = await store.multipart.list(null)
    expect(first.uploads).toHaveLength(2)
    expect(Math.abs((first.uploads[0]?.startedAt.getTime() ?? 0) - Date.now())).toBeLessThan(60_000)
    const rest = await store.multipart.list(first.next)
    expect(rest.next).toBeNull()
    const listed = [...first.uploads, ...rest.uploads].map(({ uploadId }) => uploadId)
    expect(listed.toSorted()).toEqual(made.map(({ uploadId }) => uploadId).toSorted())
  })

  it('are aborted after a day when no running backup names them', async () => {
    const stray = [await open(newKey()), await open(newKey()), await open(newKey())]
    const foreign = await open('other/file.bin')
    const named = await Promise.all(
      [{}, { completedAt: world.clock.now }, { deletingAt: world.clock.now }].map(async (values) => {
        const upload = await open(newKey())
        await fixtures.makeBackup({
          disk: 's3',
          isSuccessful: false,
          completedAt: null,
          uploadId: upload.uploadId,
          ...values,
        })
        return upload
      }),
    )
    await sweepUploads(world.panel)
    expect(await openKeys()).toHaveLength(stray.length + named.length + 1)
    world.clock.advance(day + 60)
    await sweepUploads(world.panel)
    expect((await openKeys()).toSorted()).toEqual([foreign.key, named[0]?.key ?? ''].toSorted())
    expect((await sweep())?.runAt.getTime()).toBe(world.clock.now.getTime() + day * 1000)
  })

  it('of which there are many are aborted in turns, a minute apart', async () => {
    await Promise.all(Array.from({ length: 103 }, () => open(newKey())))
    world.clock.advance(day + 60)
    await sweepUploads(world.panel)
    expect(await openKeys()).toHaveLength(3)
    expect((await sweep())?.runAt.getTime()).toBe(world.clock.now.getTime() + 60_000)
    world.clock.advance(60)
    await world.runJobs()
    expect(await openKeys()).toEqual([])
    expect((await sweep())?.runAt.getTime()).toBe(world.clock.now.getTime() + day * 1000)
  })

  it('are looked for again when the store was away', async () => {
    await open(newKey())
    const odd = await openStubStore((_request, response) => void response.writeHead(500).end())
    useStore(world, odd)
    await expect(sweepUploads(world.panel)).rejects.toThrow()
    await odd.close()
    expect(await sweep()).toBeUndefined()
  })
})

describe('a backup without a report', () => {
  it('fails after six hours, and its upload is aborted', async () => {
    const { uuid } = (await fixtures.start()).body.attributes
    const path = `/api/remote/backups/${uuid}?size=1000`
    const { status } = await world.request('GET', path, { token: fixtures.node.token })
    expect(status).toBe(200)
    expect(await openKeys()).toHaveLength(1)
    world.clock.advance(6 * 3600)
    await world.runJobs()
    expect(await world.database.db.select().from(backups)).toMatchObject([
      { isSuccessful: false, completedAt: world.clock.now, uploadId: null },
    ])
    await world.runJobs()
    expect(await openKeys()).toEqual([])
    expect(await world.events()).toEqual(['server:backup.start', 'server:backup.fail'])
  })
})
