import { createHash, randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import type { RequestListener } from 'node:http'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { s3ObjectStore } from '../../src/adapters/objects.ts'
import type { Profile } from '../../src/dev/daemon/daemon.ts'
import { type DaemonWithBackup, failedReport, startDaemonWithBackup } from '../support/daemon-backups.ts'
import { discardDaemon, openSocket, signToken, startTestDaemon } from '../support/development-daemon.ts'
import { openStubStore, openTestStore, type TestStore } from '../support/object-store.ts'
import { until } from '../support/until.ts'

const mebibyte = 1024 * 1024
const partSize = 5 * mebibyte
let shared: TestStore
let at: DaemonWithBackup
const stubs: TestStore[] = []

beforeAll(async () => {
  shared = await openTestStore()
})
afterAll(() => shared.close())
beforeEach(async () => {
  await begin()
})
afterEach(async () => {
  await at.close()
  for (const each of stubs.splice(0)) await each.close()
})

async function begin(profile: Profile = '1.13'): Promise<void> {
  at = await startDaemonWithBackup({ profile })
}

const order = () => at.order({ adapter: 's3' })
const restore = (url: string, changes: object = {}) =>
  at.restore({ adapter: 's3', download_url: url, ...changes })
const listArchives = () => readdir(join(at.daemon.dataDirectory, 'backups'))
const uploads = () => s3ObjectStore(shared.options).multipart

/** Makes the panel open an upload in the store for each request. The returned function gives its id. */
function plan(size = partSize): () => string {
  let uploadId = ''
  at.panel.uploads.set(at.backup, async (bytes) => {
    uploadId = await uploads().create(at.backup, 'application/x-gzip')
    const numbers = Array.from({ length: Math.ceil(bytes / size) }, (_, index) => index + 1)
    const parts = await Promise.all(
      numbers.map((number) => uploads().signPart(at.backup, uploadId, number, 60)),
    )
    return { parts, part_size: size }
  })
  return () => uploadId
}

/** Makes the panel give URLs of two parts at a store that answers with `listener`. */
async function planAt(listener: RequestListener): Promise<TestStore> {
  const store = await openStubStore(listener)
  stubs.push(store)
  const parts = [1, 2].map((number) => `${store.options.endpoint}/${number}`)
  at.panel.uploads.set(at.backup, async (size) => ({ parts, part_size: Math.ceil(size / 2) }))
  return store
}

async function makeWhole(content: Buffer): Promise<string> {
  const uploadId = plan()
  await at.put('world', content)
  expect((await order()).status).toBe(202)
  await at.reported()
  const parts = at.reports()[0].parts.map(({ etag, part_number }: any) => ({
    tag: etag,
    partNumber: part_number,
  }))
  expect(await uploads().complete(at.backup, uploadId(), parts)).toBe('completed')
  return s3ObjectStore(shared.options).signedUrl(at.backup, 60)
}

describe('a backup in the object store', () => {
  it('is uploaded in parts, one after the other, whose ETags are reported; nothing is left on the node', async () => {
    const viewer = await openSocket(at.daemon, at.uuid, at.panel.url, signToken(at.uuid))
    await until(() => expect(viewer.texts('status')).toHaveLength(1))
    const link = await makeWhole(randomBytes(12 * mebibyte))
    const answer = await fetch(link)
    const archive = Buffer.from(await answer.arrayBuffer())
    const slices = [0, 1, 2].map((index) => archive.subarray(index * partSize, (index + 1) * partSize))
    const checksum = createHash('sha1').update(archive).digest('hex')
    expect(at.reports()).toEqual([
      {
        checksum,
        checksum_type: 'sha1',
        size: archive.length,
        successful: true,
        parts: slices.map((slice, index) => ({
          etag: `"${createHash('md5').update(slice).digest('hex')}"`,
          part_number: index + 1,
        })),
      },
    ])
    expect(at.panel.callsTo('GET', `/backups/${at.backup}`).map(({ query }) => query.get('size'))).toEqual([
      String(archive.length),
    ])
    expect(await listArchives()).toEqual([])
    await until(() => expect(viewer.texts('backup completed')).toHaveLength(1))
    expect(JSON.parse(viewer.texts('backup completed')[0] ?? '')).toMatchObject({ uuid: at.backup, checksum })
    expect((await at.api('DELETE', `/backup/${at.backup}`)).status).toBe(404)
  })

  it('is uploaded with its type and the exact length of each part', async () => {
    const seen: string[] = []
    let [open, most] = [0, 0]
    await planAt((request, response) => {
      const { method, headers } = request
      most = Math.max(most, (open += 1))
      let received = 0
      request.on('data', (chunk: Buffer) => (received += chunk.length))
      request.on('end', () => {
        open -= 1
        seen.push(`${method} ${headers['content-type']} ${headers['transfer-encoding']}`)
        expect(received).toBe(Number(headers['content-length']))
        response.writeHead(200, { etag: `W/"tag ${seen.length}"` }).end('<odd/>')
      })
    })
    await at.put('world', randomBytes(1_000_001))
    await order()
    await at.reported()
    expect(seen).toEqual(Array(2).fill('PUT application/x-gzip undefined'))
    expect(most).toBe(1)
    expect(at.reports()[0].parts).toEqual([
      { etag: 'W/"tag 1"', part_number: 1 },
      { etag: 'W/"tag 2"', part_number: 2 },
    ])
  })

  it.each<[string, RequestListener]>([
    ['refuses', (_request, response) => response.writeHead(403).end()],
    ['fails', (_request, response) => response.writeHead(503).end()],
    ['answers another success', (_request, response) => response.writeHead(204, { etag: '"x"' }).end()],
    ['gives no ETag', (_request, response) => response.writeHead(200).end()],
    ['breaks off', (request) => request.socket.destroy()],
  ])('fails when the store %s, without a second attempt', async (_name, listener) => {
    const store = await planAt(listener)
    await at.put('world', randomBytes(3_000_000))
    expect((await order()).status).toBe(202)
    await at.reported()
    expect(at.reports()).toEqual([failedReport])
    expect(store.requests).toEqual(['PUT /1'])
    await until(async () => expect(await listArchives()).toEqual([]))
  })

  it('fails when the link of a part was changed', async () => {
    plan()
    const planned = at.panel.uploads.get(at.backup)
    at.panel.uploads.set(at.backup, async (size) => {
      const { parts, part_size } = await planned!(size)
      return { parts: parts.map((part) => part.replace('Expires=60', 'Expires=61')), part_size }
    })
    await at.put('world', 'x')
    await order()
    await at.reported()
    expect(at.reports()).toEqual([failedReport])
  })

  it.each([undefined, {}, { parts: [], part_size: null }, { parts: [5], part_size: 5 }])(
    'fails when the panel gives no parts, but %j',
    async (answer) => {
      if (answer) at.panel.uploads.set(at.backup, async () => answer as any)
      await order()
      await at.reported()
      expect(at.reports()).toEqual([failedReport])
      await until(async () => expect(await listArchives()).toEqual([]))
    },
  )

  it('is not reported by a daemon that dies between upload and report, nor by the next one', async () => {
    const uploadId = plan()
    at.daemon.faults.push({ route: 'POST /api/remote/backups/*', effect: 'hang' })
    await at.put('world', randomBytes(6 * mebibyte))
    await order()
    await until(() => expect(shared.requests.filter((line) => line.includes(uploadId())).length).toBe(2))
    await until(async () => expect(await listArchives()).toEqual([]))
    await at.daemon.close()
    const next = await startTestDaemon(at.panel, { dataDirectory: at.daemon.dataDirectory })
    try {
      await next.ready
      await until(() => expect(at.panel.callsTo('POST', '/servers/reset')).toHaveLength(2))
      expect(at.reports()).toEqual([])
    } finally {
      await discardDaemon(next)
    }
  })

  it('of a daemon that dies while it uploads leaves its archive on the node', async () => {
    const store = await planAt(() => undefined)
    await at.put('world', randomBytes(3_000_000))
    await order()
    await until(() => expect(store.requests).toEqual(['PUT /1']))
    await at.daemon.close()
    expect(at.reports()).toEqual([])
    expect(await listArchives()).toEqual([`${at.backup}.tar.gz`])
  })

  it('is aborted when its server is removed, and not reported', async () => {
    const store = await planAt(() => undefined)
    await at.put('world', randomBytes(3_000_000))
    await order()
    await until(() => expect(store.requests).toEqual(['PUT /1']))
    expect((await at.api('DELETE', '')).status).toBe(204)
    await until(() => expect(existsSync(at.folder)).toBe(false))
    await until(async () => expect(await listArchives()).toEqual([]))
    expect(at.reports()).toEqual([])
  })
})

describe('a restoration from the object store', () => {
  it('restores the files, also after redirects', async () => {
    const content = randomBytes(6 * mebibyte)
    const link = await makeWhole(content)
    await at.put('world', 'changed since')
    await at.put('since', 'made since')
    const store = await openStubStore((_request, response) =>
      response.writeHead(302, { location: link }).end(),
    )
    stubs.push(store)
    expect((await restore(`${store.options.endpoint}/a`)).status).toBe(202)
    await at.reported(1, '/restore')
    expect(at.reports('/restore')).toEqual([{ successful: true }])
    expect((await readFile(join(at.folder, 'world'))).equals(content)).toBe(true)
    expect((await readdir(at.folder)).toSorted()).toEqual(['since', 'world'])
    expect((await restore(link, { truncate_directory: true })).status).toBe(202)
    await until(() => expect(at.reports('/restore')).toHaveLength(2))
    expect(await readdir(at.folder)).toEqual(['world'])
  })

  it.each([
    [200, 'application/octet-stream', '1.13', 400],
    [200, 'text/html', '1.13', 400],
    [403, 'application/xml', '1.13', 400],
    [200, undefined, '1.13', 400],
    [404, 'application/gzip', '1.13', 202],
    [404, 'application/gzip', 'pelican', 400],
  ] as const)('that is answered %i %s is answered on %s with %i', async (status, type, profile, expected) => {
    await at.close()
    await begin(profile)
    await at.put('kept', 'kept')
    const store = await openStubStore((_request, response) =>
      response.writeHead(status, type ? { 'content-type': type } : {}).end('no archive'),
    )
    stubs.push(store)
    const answer = await restore(`${store.options.endpoint}/a`, { truncate_directory: expected === 400 })
    expect(answer.status).toBe(expected)
    if (expected === 202) {
      await at.reported(1, '/restore')
      expect(at.reports('/restore')).toEqual([{ successful: false }])
    }
    expect(await readdir(at.folder)).toEqual(['kept'])
    expect(at.reports('/restore')).toHaveLength(expected === 202 ? 1 : 0)
  })

  it('is answered with 500 when nothing listens at the URL', async () => {
    expect((await restore('http://127.0.0.1:1/a')).status).toBe(500)
    expect((await restore('nowhere')).status).toBe(500)
    expect(at.reports('/restore')).toEqual([])
  })

  it('fails when the archive breaks off, and ends at once when the daemon does', async () => {
    const link = await makeWhole(randomBytes(6 * mebibyte))
    const archive = Buffer.from(await (await fetch(link)).arrayBuffer())
    const headers = { 'content-type': 'application/gzip', 'content-length': archive.length }
    const store = await openStubStore((request, response) => {
      response.writeHead(200, headers).write(archive.subarray(0, 3 * mebibyte))
      if (request.url === '/cut') setTimeout(() => response.destroy(), 200)
    })
    stubs.push(store)
    expect((await restore(`${store.options.endpoint}/cut`)).status).toBe(202)
    await at.reported(1, '/restore')
    expect(at.reports('/restore')).toEqual([{ successful: false }])
    expect(await at.spooled()).toEqual([])
    expect((await restore(`${store.options.endpoint}/stuck`)).status).toBe(202)
    await until(async () => expect(await at.spooled()).toHaveLength(1))
    await at.daemon.close()
    expect(at.reports('/restore')).toHaveLength(1)
  })
})
