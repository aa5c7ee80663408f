import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { s3ObjectStore } from '../../src/adapters/objects.ts'
import { backups } from '../../src/db/schema.ts'
import { jobHandlers } from '../../src/domain/jobs/handlers.ts'
import { sweepJobs } from '../../src/domain/jobs/run.ts'
import type { ObjectStore } from '../../src/adapters/objects.ts'
import { single } from '../../src/db/database.ts'
import { makeNode, makeServer } from '../support/factories.ts'
import { openStubStore, openTestStore, type TestStore } from '../support/object-store.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
const mebibyte = 1024 * 1024
const archiveType = 'application/x-gzip'
const failure = { checksum: '', checksum_type: '', size: 0, successful: false, parts: null }
let s3: TestStore
let store: ReturnType<typeof s3ObjectStore>
let node: Awaited<ReturnType<typeof makeNode>>
let server: Awaited<ReturnType<typeof makeServer>>

beforeAll(async () => {
  s3 = await openTestStore()
  store = s3ObjectStore(s3.options)
})
afterAll(() => s3.close())
beforeEach(async () => {
  s3.requests.length = 0
  useStore(store)
  node = await makeNode(world)
  server = await makeServer(world, { node })
})

const useStore = (objects: ObjectStore) => void Object.assign(world.services, { objects })

const makeBackup = async (values: Partial<typeof backups.$inferInsert> = {}) =>
  single(
    await world.database.db
      .insert(backups)
      .values({ serverId: server.id, name: 'Nightly', disk: 's3', isLocked: true, ...values })
      .returning(),
  )
type Made = Awaited<ReturnType<typeof makeBackup>>

const rowOf = async ({ id }: { id: number }) => {
  const [row] = await world.database.db.select().from(backups).where(eq(backups.id, id))
  return row
}

const ask = (backup: { uuid: string }, size: unknown, token = node.token) =>
  world.request('GET', `/api/remote/backups/${backup.uuid}?size=${String(size)}`, { token })
const report = (backup: { uuid: string }, body: unknown, token = node.token) =>
  world.request('POST', `/api/remote/backups/${backup.uuid}`, { token, body })
const keyOf = (backup: Made) => `${server.uuid}/${backup.uuid}.tar.gz`

/** Requests links and uploads the archive, as the stock daemon does; returns its report. */
async function upload(backup: Made, bytes: Uint8Array<ArrayBuffer>) {
  const { body } = await ask(backup, bytes.length)
  const parts = []
  for (const [at, url] of (body.parts as string[]).entries()) {
    const piece = bytes.slice(at * body.part_size, (at + 1) * body.part_size)
    const answer = await fetch(url, { method: 'PUT', body: piece, headers: { 'content-type': archiveType } })
    expect(answer.status).toBe(200)
    parts.push({ etag: answer.headers.get('etag'), part_number: at + 1 })
  }
  const checksum = 'da39a3ee5e6b4b0d3255bfef95601890afd80709'
  return { checksum, checksum_type: 'sha1', size: bytes.length, successful: true, parts }
}

const archive = new Uint8Array(1000).fill(7)
const runJobs = (objects: ObjectStore = store) => sweepJobs({ ...world.panel, objects }, jobHandlers)

describe('links for an archive', () => {
  it('are one for each part, of 512 MiB where that is enough, and open an upload of the right type', async () => {
    const backup = await makeBackup()
    const { status, body } = await ask(backup, 512 * mebibyte * 2 + 1)
    expect(status).toBe(200)
    expect(body.part_size).toBe(512 * mebibyte)
    const links = (body.parts as string[]).map((url) => new URL(url))
    expect(links.map(({ searchParams }) => searchParams.get('partNumber'))).toEqual(['1', '2', '3'])
    const uploadId = (await rowOf(backup))?.uploadId
    for (const { pathname, searchParams } of links) {
      expect(pathname).toBe(`/${s3.options.bucket}/${keyOf(backup)}`)
      expect(searchParams.get('uploadId')).toBe(uploadId)
      expect(searchParams.get('X-Amz-Expires')).toBe('3600')
      expect(searchParams.get('X-Amz-SignedHeaders')).toBe('host')
      expect([...searchParams.keys()].filter((name) => /checksum|crc/i.test(name))).toEqual([])
    }
  })

  it('come in the order of the parts, however many there are', async () => {
    const { body } = await ask(await makeBackup(), 512 * mebibyte * 250)
    const numbers = (body.parts as string[]).map((url) => new URL(url).searchParams.get('partNumber'))
    expect(numbers).toEqual(Array.from({ length: 250 }, (_, at) => String(at + 1)))
  })

  it('replace those that were asked for before, whose upload is aborted', async () => {
    const backup = await makeBackup()
    const [first] = (await ask(backup, 1000)).body.parts
    const previous = (await rowOf(backup))?.uploadId
    const [second] = (await ask(backup, 1000)).body.parts
    expect((await rowOf(backup))?.uploadId).not.toBe(previous)
    const put = (url: string) => fetch(url, { method: 'PUT', body: archive })
    expect((await put(first)).status).toBe(404)
    expect((await put(second)).status).toBe(200)
    const written = s3.requests.filter(
      (request) => request.includes(backup.uuid) && !request.startsWith('PUT'),
    )
    expect(written.map((request) => request.split(' ')[0])).toEqual(['POST', 'DELETE', 'POST'])
  })

  it('cost four statements, one of which writes the upload down', async () => {
    const backup = await makeBackup()
    await ask(backup, 1000)
    expect(await world.countStatements(() => ask(backup, 1000))).toBe(4)
  })

  it('leave one upload when they are asked for at once', async () => {
    const backup = await makeBackup()
    const answers = await Promise.all([ask(backup, 1000), ask(backup, 1000), ask(backup, 1000)])
    const fine = answers.filter(({ status }) => status === 200)
    expect(fine.length).toBeGreaterThanOrEqual(1)
    expect(answers.every(({ status }) => [200, 503].includes(status))).toBe(true)
    const { uploadId } = (await rowOf(backup)) ?? {}
    const sent = (method: string) => s3.requests.filter((each) => each.startsWith(`${method} `))
    expect(sent('POST').length - new Set(sent('DELETE')).size).toBe(1)
    expect(fine.some(({ body }) => new URL(body.parts[0]).searchParams.get('uploadId') === uploadId)).toBe(
      true,
    )
  })

  it('need a size that is a positive number of bytes, and one that parts can hold', async () => {
    const backup = await makeBackup()
    const sizes = [
      '',
      '0',
      '-1',
      '1.5',
      'abc',
      '1e3',
      '0x10',
      '%20',
      '9007199254740993',
      '9007199254740991',
      String(5 * 1024 ** 4 + 1),
      'NaN',
    ]
    for (const size of sizes) expect([size, (await ask(backup, size)).status]).toEqual([size, 400])
    const path = `/api/remote/backups/${backup.uuid}`
    for (const query of ['', '?size', '?size[]=5', '?size[a]=5']) {
      expect((await world.request('GET', `${path}${query}`, { token: node.token })).status).toBe(400)
    }
    expect(s3.requests).toEqual([])
  })

  it('are refused in this order: size, unknown, another node, completed, store', async () => {
    const other = await makeNode(world)
    const completed = await makeBackup({ disk: 'wings', completedAt: new Date() })
    const unknown = { uuid: crypto.randomUUID() }
    expect((await ask(unknown, 0)).status).toBe(400)
    expect((await ask(unknown, 1)).status).toBe(404)
    expect((await ask({ uuid: 'abc' }, 1)).status).toBe(404)
    expect((await ask(await makeBackup({ deletingAt: new Date() }), 1)).status).toBe(404)
    expect((await ask(completed, 1, other.token)).status).toBe(403)
    expect((await ask(completed, 1)).status).toBe(409)
    expect((await ask(await makeBackup({ disk: 'wings' }), 1)).status).toBe(400)
    const { multipart: _, ...whole } = store
    useStore(whole)
    expect((await ask(await makeBackup(), 1)).status).toBe(400)
    expect(s3.requests).toEqual([])
  })

  it('are refused with 503 while the store fails, which changes nothing', async () => {
    const odd = await openStubStore((_request, response) => {
      response
        .writeHead(500, { 'content-type': 'application/xml' })
        .end('<Error><Code>InternalError</Code></Error>')
    })
    useStore(s3ObjectStore(odd.options))
    const backup = await makeBackup({ uploadId: 'before' })
    const answer = await ask(backup, 1000)
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5'])
    expect(await rowOf(backup)).toEqual(backup)
    await odd.close()
  })
})

describe('the report of a backup in the object store', () => {
  it('joins the parts and completes the backup', async () => {
    const backup = await makeBackup()
    const body = await upload(backup, archive)
    expect((await report(backup, body)).status).toBe(204)
    expect(await rowOf(backup)).toMatchObject({
      isSuccessful: true,
      isLocked: true,
      checksum: `sha1:${body.checksum}`,
      bytes: 1000,
      completedAt: world.clock.now,
      uploadId: null,
    })
    const answer = await fetch(await store.signedUrl(keyOf(backup), 60))
    expect(answer.headers.get('content-type')).toBe(archiveType)
    expect(new Uint8Array(await answer.arrayBuffer())).toEqual(archive)
    expect((await ask(backup, 1000)).status).toBe(409)
    expect(await world.events()).toEqual(['server:backup.complete'])
  })

  it('completes a backup whose parts were joined before, when that answer was lost', async () => {
    const backup = await makeBackup()
    const body = await upload(backup, archive)
    const parts = body.parts.map(({ etag, part_number }) => ({ tag: etag ?? '', partNumber: part_number }))
    await store.multipart.complete(keyOf(backup), (await rowOf(backup))?.uploadId ?? '', parts)
    expect((await report(backup, body)).status).toBe(204)
    expect(await rowOf(backup)).toMatchObject({ isSuccessful: true, bytes: 1000 })
  })

  it('is accepted once when it comes twice at once, and keeps the archive', async () => {
    const backup = await makeBackup()
    const body = await upload(backup, archive)
    const answers = await Promise.all([report(backup, body), report(backup, body)])
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([204, 400]))
    expect((await report(backup, body)).status).toBe(400)
    await runJobs()
    expect(await rowOf(backup)).toMatchObject({ isSuccessful: true, bytes: 1000 })
    expect(await store.multipart.head(keyOf(backup))).toEqual({ size: 1000 })
    expect(await world.events()).toEqual(['server:backup.complete'])
  })

  it('fails the backup with 400 when the archive is not whole in the store', async () => {
    const reports: ((backup: Made) => Promise<object>)[] = [
      async (backup) => ({ ...(await upload(backup, archive)), size: 1001 }),
      async (backup) => ({ ...(await upload(backup, archive)), parts: null }),
      async (backup) => ({ ...(await upload(backup, archive)), parts: [] }),
      async (backup) => ({ ...(await upload(backup, archive)), parts: [{ etag: '"x"', part_number: 1 }] }),
      async (backup) => {
        const body = await upload(backup, archive)
        await store.multipart.abort(keyOf(backup), (await rowOf(backup))?.uploadId ?? '')
        return body
      },
      async () => ({ ...failure, successful: true, checksum: 'a', checksum_type: 'sha1', size: 1 }),
    ]
    for (const [at, bodyOf] of reports.entries()) {
      const backup = await makeBackup()
      const body = await bodyOf(backup)
      const { uploadId } = (await rowOf(backup)) ?? {}
      expect([at, (await report(backup, body)).status]).toEqual([at, 400])
      const failed = { isSuccessful: false, isLocked: false, bytes: 0, checksum: null, uploadId: null }
      expect(await rowOf(backup)).toMatchObject({ ...failed, completedAt: world.clock.now })
      expect((await report(backup, body)).status).toBe(400)
      expect(await runJobs()).toBe(1)
      expect(await store.multipart.head(keyOf(backup))).toBeNull()
      if (uploadId) {
        const parts = [{ tag: '"x"', partNumber: 1 }]
        expect(await store.multipart.complete(keyOf(backup), uploadId, parts)).toBe('gone')
      }
    }
    expect(await world.events()).toEqual(reports.map(() => 'server:backup.fail'))
  })

  it('is refused with 503 while the store fails, and works when it comes again', async () => {
    const backup = await makeBackup()
    const body = await upload(backup, archive)
    const before = await rowOf(backup)
    const odd = await openStubStore((_request, response) => {
      response
        .writeHead(200, { 'content-type': 'application/xml' })
        .end('<Error><Code>InternalError</Code></Error>')
    })
    useStore(s3ObjectStore(odd.options))
    expect((await report(backup, body)).status).toBe(503)
    await odd.close()
    const { multipart: _, ...whole } = store
    useStore(whole)
    expect((await report(backup, body)).status).toBe(503)
    expect(await rowOf(backup)).toEqual(before)
    expect(await world.events()).toEqual([])
    useStore(store)
    expect((await report(backup, body)).status).toBe(204)
  })

  it('of a failure leaves nothing in the store', async () => {
    const backup = await makeBackup()
    await upload(backup, archive)
    const { uploadId } = (await rowOf(backup)) ?? {}
    s3.requests.length = 0
    expect((await report(backup, failure)).status).toBe(204)
    expect(s3.requests).toEqual([])
    expect(await runJobs()).toBe(1)
    expect(await store.multipart.complete(keyOf(backup), uploadId ?? '', [])).toBe('gone')
  })
})
