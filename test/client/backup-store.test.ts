import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { only } from '../../src/db/database.ts'
import { memoryObjects } from '../support/memory-objects.ts'
import { openOddStore, openTestStore, type TestStore } from '../support/object-store.ts'
import { makeApplicationToken } from '../support/factories.ts'
import { startStubDaemon, type StubDaemon } from '../support/stub-daemon.ts'
import { useWorld } from '../support/world.ts'
import { type BackupScene, failure, openBackupScene, set, useStore } from './backup-scene.ts'

const world = useWorld()
const archiveType = 'application/x-gzip'
const archive = new Uint8Array(1000).fill(7)
let daemon: StubDaemon
let s3: TestStore
let store: ReturnType<typeof useStore>
let scene: BackupScene

beforeAll(async () => {
  daemon = await startStubDaemon()
  s3 = await openTestStore()
})
afterAll(async () => {
  const objects = memoryObjects()
  Object.assign(world.parts, { objects })
  Object.assign(world.panel, { objects })
  await daemon.close()
  await s3.close()
})

beforeEach(async () => {
  store = useStore(world, s3)
  scene = await openBackupScene(world, daemon)
  await set(world, { 'backups.default_disk': 's3' })
})

const start = async () => (await scene.start()).body.attributes as { uuid: string }
const keyOf = ({ uuid }: { uuid: string }) => `${scene.server.uuid}/${uuid}.tar.gz`
const openUploads = async () => {
  const keys: string[] = []
  for (let page = await store.multipart.list(null); ; page = await store.multipart.list(page.next)) {
    keys.push(...page.uploads.map(({ key }) => key))
    if (!page.next) return keys.filter((key) => key.startsWith(scene.server.uuid))
  }
}

/** Asks for links and sends the archive through them, as the stock daemon does; what it then reports. */
async function upload(backup: { uuid: string }) {
  const path = `/api/remote/backups/${backup.uuid}?size=${archive.length}`
  const { body } = await world.request('GET', path, { token: scene.node.token })
  const answer = await fetch(only(body.parts as string[]), { method: 'PUT', body: archive })
  const parts = [{ etag: answer.headers.get('etag'), part_number: 1 }]
  return { checksum: 'abc', checksum_type: 'sha1', size: archive.length, successful: true, parts }
}

async function makeStored() {
  const backup = await start()
  expect((await scene.report(backup, await upload(backup))).status).toBe(204)
  daemon.calls.length = 0
  return backup
}

describe('a backup in the object store', () => {
  it('is sent there by the daemon, and fetched from there', async () => {
    const backup = await start()
    expect(scene.told()).toEqual([
      { method: 'POST', path: scene.daemonPath(), body: { adapter: 's3', uuid: backup.uuid, ignore: '' } },
    ])
    expect((await scene.report(backup, await upload(backup))).status).toBe(204)
    const { status, body } = await scene.ask('GET', `/${backup.uuid}/download`)
    expect([status, body.object]).toEqual([200, 'signed_url'])
    const url = new URL(body.attributes.url)
    expect(url.searchParams.get('X-Amz-Expires')).toBe('300')
    const answer = await fetch(url)
    expect(new Uint8Array(await answer.arrayBuffer())).toEqual(archive)
    expect(await world.events()).toEqual([
      'server:backup.start',
      'server:backup.complete',
      'server:backup.download',
    ])
  })

  it('is removed from there', async () => {
    const backup = await makeStored()
    expect((await scene.ask('DELETE', `/${backup.uuid}`)).status).toBe(204)
    expect(await store.multipart.head(keyOf(backup))).toBeNull()
    expect(daemon.calls).toEqual([])
    expect(await scene.rows()).toEqual([])
  })

  it('that is being sent is given up when it is removed', async () => {
    const backup = await start()
    const report = await upload(backup)
    expect(await openUploads()).toEqual([keyOf(backup)])
    expect((await scene.ask('DELETE', `/${backup.uuid}`)).status).toBe(204)
    expect(await openUploads()).toEqual([])
    expect((await scene.report(backup, report)).status).toBe(404)
    expect(await store.multipart.head(keyOf(backup))).toBeNull()
  })

  it('is removed with its server by a job', async () => {
    const [whole, running] = [await makeStored(), await start()]
    await upload(running)
    const token = await makeApplicationToken(world)
    const { status } = await world.request('DELETE', `/api/application/servers/${scene.server.id}`, { token })
    expect(status).toBe(204)
    await world.runJobs()
    for (const backup of [whole, running]) expect(await store.multipart.head(keyOf(backup))).toBeNull()
    expect(await openUploads()).toEqual([])
  })

  it('is restored through a link that says what daemons expect', async () => {
    const backup = await makeStored()
    const { status } = await scene.ask('POST', `/${backup.uuid}/restore`, { body: { truncate: true } })
    expect(status).toBe(204)
    const [call] = scene.told()
    expect(call?.body).toEqual({ adapter: 's3', truncate_directory: true, download_url: expect.any(String) })
    const answer = await fetch(call?.body.download_url)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, archiveType])
    expect(new URL(call?.body.download_url).searchParams.get('response-content-type')).toBe(archiveType)
    expect(new Uint8Array(await answer.arrayBuffer())).toEqual(archive)
  })

  it('that the store has lost is not restored, and nothing is removed', async () => {
    const backup = await makeStored()
    await store.remove(keyOf(backup))
    const { status } = await scene.ask('POST', `/${backup.uuid}/restore`, { body: { truncate: true } })
    expect(status).toBe(400)
    expect(daemon.calls).toEqual([])
    expect(await scene.statusNow()).toBeNull()
  })
})

describe('a store that is down', () => {
  let odd: TestStore
  beforeEach(async () => {
    odd = await openOddStore((_request, response) => void response.writeHead(500).end())
  })
  const breakStore = () => useStore(world, odd)

  it('refuses a backup with 503 before it takes a place, and everything else works', async () => {
    const stored = await makeStored()
    const before = [await scene.rows(), await scene.entries(), await scene.waiting()]
    breakStore()
    const { status, headers } = await scene.start()
    expect([status, headers.get('retry-after')]).toEqual([503, '5'])
    expect([await scene.rows(), await scene.entries(), await scene.waiting()]).toEqual(before)
    expect(daemon.calls).toEqual([])
    expect((await scene.ask('GET')).status).toBe(200)
    expect((await scene.ask('POST', `/${stored.uuid}/lock`)).status).toBe(200)
    const onNode = await scene.makeBackup()
    expect((await scene.ask('DELETE', `/${onNode.uuid}`)).status).toBe(204)
    await odd.close()
  })

  it('is not waited for', async () => {
    const silent = await openOddStore(() => undefined)
    useStore(world, silent)
    const before = performance.now()
    expect((await scene.start()).status).toBe(503)
    expect(performance.now() - before).toBeLessThan(6000)
    expect(await scene.rows()).toEqual([])
    await silent.close()
    await odd.close()
  })

  it('keeps what was to be removed from it', async () => {
    const { uuid } = await makeStored()
    breakStore()
    expect((await scene.ask('DELETE', `/${uuid}`)).status).toBe(503)
    expect(await scene.rows()).toMatchObject([{ uuid, deletingAt: null, isSuccessful: true }])
    store = useStore(world, s3)
    expect((await scene.ask('DELETE', `/${uuid}`)).status).toBe(204)
    await odd.close()
  })

  it('changes nothing about a server that was to be restored from it', async () => {
    const { uuid } = await makeStored()
    breakStore()
    expect((await scene.ask('POST', `/${uuid}/restore`, { body: { truncate: true } })).status).toBe(503)
    expect(await scene.statusNow()).toBeNull()
    expect(daemon.calls).toEqual([])
    await odd.close()
  })

  it('that was never there takes no backups', async () => {
    const { multipart: _, ...whole } = store
    Object.assign(world.parts, { objects: whole })
    expect((await scene.start()).status).toBe(503)
    expect(await scene.rows()).toEqual([])
    await odd.close()
  })
})

describe('the links of an upload', () => {
  it('are those of the settings', async () => {
    await set(world, { 'backups.part_size_mib': 5, 'backups.link_minutes': 7 })
    const { uuid } = await start()
    const path = `/api/remote/backups/${uuid}?size=${11 * 1024 ** 2}`
    const { body } = await world.request('GET', path, { token: scene.node.token })
    expect(body.part_size).toBe(5 * 1024 ** 2)
    expect(body.parts).toHaveLength(3)
    expect(new URL(body.parts[0]).searchParams.get('X-Amz-Expires')).toBe('420')
  })

  it('lead nowhere once the backup has failed', async () => {
    const backup = await start()
    await upload(backup)
    expect((await scene.report(backup, failure)).status).toBe(204)
    await world.runJobs()
    expect(await openUploads()).toEqual([])
  })
})
