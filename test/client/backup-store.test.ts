import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { single } from '../../src/db/database.ts'
import { openStubStore, openTestStore, type TestStore } from '../support/object-store.ts'
import { makeApplicationToken } from '../support/factories.ts'
import { startStubDaemon, type StubDaemon } from '../support/stub-daemon.ts'
import { useWorld } from '../support/world.ts'
import { type BackupFixtures, failure, createBackupFixtures, set, useStore } from './backup-fixtures.ts'

const world = useWorld()
const archiveType = 'application/x-gzip'
const archive = new Uint8Array(1000).fill(7)
let daemon: StubDaemon
let s3: TestStore
let store: ReturnType<typeof useStore>
let fixtures: BackupFixtures

beforeAll(async () => {
  daemon = await startStubDaemon()
  s3 = await openTestStore()
})
afterAll(async () => {
  await daemon.close()
  await s3.close()
})

beforeEach(async () => {
  store = useStore(world, s3)
  fixtures = await createBackupFixtures(world, daemon)
  await set(world, { 'backups.default_disk': 's3' })
})

const start = async () => (await fixtures.start()).body.attributes as { uuid: string }
const keyOf = ({ uuid }: { uuid: string }) => `${fixtures.server.uuid}/${uuid}.tar.gz`
const openUploads = async () => {
  const keys: string[] = []
  for (let page = await store.multipart.list(null); ; page = await store.multipart.list(page.next)) {
    keys.push(...page.uploads.map(({ key }) => key))
    if (!page.next) return keys.filter((key) => key.startsWith(fixtures.server.uuid))
  }
}

/** Requests links and uploads the archive, as the stock daemon does; returns its report. */
async function upload(backup: { uuid: string }) {
  const path = `/api/remote/backups/${backup.uuid}?size=${archive.length}`
  const { body } = await world.request('GET', path, { token: fixtures.node.token })
  const answer = await fetch(single(body.parts as string[]), { method: 'PUT', body: archive })
  const parts = [{ etag: answer.headers.get('etag'), part_number: 1 }]
  return { checksum: 'abc', checksum_type: 'sha1', size: archive.length, successful: true, parts }
}

async function makeStored() {
  const backup = await start()
  expect((await fixtures.report(backup, await upload(backup))).status).toBe(204)
  daemon.calls.length = 0
  return backup
}

describe('a backup in the object store', () => {
  it('is sent there by the daemon, and fetched from there', async () => {
    const backup = await start()
    expect(fixtures.daemonCalls()).toEqual([
      { method: 'POST', path: fixtures.daemonPath(), body: { adapter: 's3', uuid: backup.uuid, ignore: '' } },
    ])
    expect((await fixtures.report(backup, await upload(backup))).status).toBe(204)
    const { status, body } = await fixtures.send('GET', `/${backup.uuid}/download`)
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
    expect((await fixtures.send('DELETE', `/${backup.uuid}`)).status).toBe(204)
    expect(await store.multipart.head(keyOf(backup))).toBeNull()
    expect(daemon.calls).toEqual([])
    expect(await fixtures.rows()).toEqual([])
  })

  it('aborts its upload when it is removed meanwhile', async () => {
    const backup = await start()
    const report = await upload(backup)
    expect(await openUploads()).toEqual([keyOf(backup)])
    expect((await fixtures.send('DELETE', `/${backup.uuid}`)).status).toBe(204)
    expect(await openUploads()).toEqual([])
    expect((await fixtures.report(backup, report)).status).toBe(404)
    expect(await store.multipart.head(keyOf(backup))).toBeNull()
  })

  it('is removed with its server by a job', async () => {
    const [whole, running] = [await makeStored(), await start()]
    await upload(running)
    const token = await makeApplicationToken(world)
    const { status } = await world.request('DELETE', `/api/application/servers/${fixtures.server.id}`, {
      token,
    })
    expect(status).toBe(204)
    await world.runJobs()
    for (const backup of [whole, running]) expect(await store.multipart.head(keyOf(backup))).toBeNull()
    expect(await openUploads()).toEqual([])
  })

  it('is restored through a link that says what daemons expect', async () => {
    const backup = await makeStored()
    const { status } = await fixtures.send('POST', `/${backup.uuid}/restore`, { body: { truncate: true } })
    expect(status).toBe(204)
    const [call] = fixtures.daemonCalls()
    expect(call?.body).toEqual({ adapter: 's3', truncate_directory: true, download_url: expect.any(String) })
    const answer = await fetch(call?.body.download_url)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, archiveType])
    expect(new URL(call?.body.download_url).searchParams.get('response-content-type')).toBe(archiveType)
    expect(new Uint8Array(await answer.arrayBuffer())).toEqual(archive)
  })

  it('that the store has lost is not restored, and nothing is removed', async () => {
    const backup = await makeStored()
    await store.remove(keyOf(backup))
    const { status } = await fixtures.send('POST', `/${backup.uuid}/restore`, { body: { truncate: true } })
    expect(status).toBe(400)
    expect(daemon.calls).toEqual([])
    expect(await fixtures.statusNow()).toBeNull()
  })
})

describe('a store that is down', () => {
  let odd: TestStore
  beforeEach(async () => {
    odd = await openStubStore((_request, response) => void response.writeHead(500).end())
  })
  const breakStore = () => useStore(world, odd)

  it('refuses a backup with 503 before it takes a place, and everything else works', async () => {
    const stored = await makeStored()
    const before = [await fixtures.rows(), await fixtures.entries(), await fixtures.waiting()]
    breakStore()
    const { status, headers } = await fixtures.start()
    expect([status, headers.get('retry-after')]).toEqual([503, '5'])
    expect([await fixtures.rows(), await fixtures.entries(), await fixtures.waiting()]).toEqual(before)
    expect(daemon.calls).toEqual([])
    expect((await fixtures.send('GET')).status).toBe(200)
    expect((await fixtures.send('POST', `/${stored.uuid}/lock`)).status).toBe(200)
    const onNode = await fixtures.makeBackup()
    expect((await fixtures.send('DELETE', `/${onNode.uuid}`)).status).toBe(204)
    await odd.close()
  })

  it('is not waited for', async () => {
    const silent = await openStubStore(() => undefined)
    useStore(world, silent)
    expect((await fixtures.start()).status).toBe(503)
    expect(await fixtures.rows()).toEqual([])
    await silent.close()
    await odd.close()
  })

  it('keeps what was to be removed from it', async () => {
    const { uuid } = await makeStored()
    breakStore()
    expect((await fixtures.send('DELETE', `/${uuid}`)).status).toBe(503)
    expect(await fixtures.rows()).toMatchObject([{ uuid, deletingAt: null, isSuccessful: true }])
    store = useStore(world, s3)
    expect((await fixtures.send('DELETE', `/${uuid}`)).status).toBe(204)
    await odd.close()
  })

  it('changes nothing about a server that was to be restored from it', async () => {
    const { uuid } = await makeStored()
    breakStore()
    expect((await fixtures.send('POST', `/${uuid}/restore`, { body: { truncate: true } })).status).toBe(503)
    expect(await fixtures.statusNow()).toBeNull()
    expect(daemon.calls).toEqual([])
    await odd.close()
  })

  it('that was never there takes no backups', async () => {
    const { multipart: _, ...whole } = store
    Object.assign(world.services, { objects: whole })
    expect((await fixtures.start()).status).toBe(503)
    expect(await fixtures.rows()).toEqual([])
    await odd.close()
  })
})

describe('the links of an upload', () => {
  it('are those of the settings', async () => {
    await set(world, { 'backups.part_size_mib': 5, 'backups.link_minutes': 7 })
    const { uuid } = await start()
    const path = `/api/remote/backups/${uuid}?size=${11 * 1024 ** 2}`
    const { body } = await world.request('GET', path, { token: fixtures.node.token })
    expect(body.part_size).toBe(5 * 1024 ** 2)
    expect(body.parts).toHaveLength(3)
    expect(new URL(body.parts[0]).searchParams.get('X-Amz-Expires')).toBe('420')
  })

  it('lead nowhere once the backup has failed', async () => {
    const backup = await start()
    await upload(backup)
    expect((await fixtures.report(backup, failure)).status).toBe(204)
    await world.runJobs()
    expect(await openUploads()).toEqual([])
  })
})
