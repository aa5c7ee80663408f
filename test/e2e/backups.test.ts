import { createHash, randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type PanelProcess, startPanelProcess } from '../support/panel-process.ts'
import { eventually } from '../support/processes.ts'

const mebibyte = 1024 * 1024
/** Three parts of the minimum size of a store, the last one shorter. */
const world = randomBytes(12 * mebibyte)
const digest = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

let panel: PanelProcess
let at: string

beforeAll(async () => {
  panel = await startPanelProcess()
  at = `/servers/${panel.bootstrap.server.uuid}`
  const { body } = await panel.asAdmin('GET', `/servers/${panel.bootstrap.server.id}`)
  const { limits, allocation, feature_limits: features } = body.attributes
  await panel.asAdmin('PATCH', `/servers/${panel.bootstrap.server.id}/build`, {
    allocation,
    limits,
    feature_limits: { ...features, backups: 3 },
  })
  const settings = { backups: { part_size_mib: 5, throttle_limit: 0 } }
  expect((await panel.asAdmin('PATCH', '/settings', settings)).status).toBe(200)
}, 60_000)
afterAll(() => panel?.stop())

const api = (method: string, path: string, body?: unknown) => panel.asPlayer(method, `${at}${path}`, body)
const backup = async (uuid: string) => (await api('GET', `/backups/${uuid}`)).body.attributes
const status = async () => (await api('GET', '')).body.attributes.status

async function upload(name: string, content: Uint8Array<ArrayBuffer>): Promise<void> {
  const { body } = await api('GET', '/files/upload')
  const form = new FormData()
  form.append('files', new Blob([content]), name)
  const answer = await fetch(`${body.attributes.url}&directory=%2F`, { method: 'POST', body: form })
  expect(answer.status).toBe(200)
}

async function fetched(url: string): Promise<Uint8Array<ArrayBuffer>> {
  const answer = await fetch(url)
  expect(answer.status).toBe(200)
  return new Uint8Array(await answer.arrayBuffer())
}

const download = async (file: string) =>
  fetched((await api('GET', `/files/download?file=${file}`)).body.attributes.url)

describe.each(['s3', 'wings'])('a backup on the disk %s', (disk) => {
  let uuid: string
  let archive: Uint8Array<ArrayBuffer>

  it('is made and downloaded', { timeout: 60_000 }, async () => {
    expect((await panel.asAdmin('PATCH', '/settings', { backups: { default_disk: disk } })).status).toBe(200)
    await upload('world.bin', world)
    await upload('cache.tmp', randomBytes(1000))
    const made = await api('POST', '/backups', { name: `On ${disk}`, ignored: '*.tmp\n' })
    expect([made.status, made.body.attributes?.is_successful]).toEqual([200, false])
    uuid = made.body.attributes.uuid
    await eventually(async () => (await backup(uuid)).completed_at !== null, 30)
    const { is_successful, bytes, checksum, ignored_files } = await backup(uuid)
    expect({ is_successful, ignored_files }).toEqual({ is_successful: true, ignored_files: ['*.tmp'] })
    const link = await api('GET', `/backups/${uuid}/download`)
    archive = await fetched(link.body.attributes.url)
    expect(archive.byteLength).toBe(bytes)
    expect(`sha1:${createHash('sha1').update(archive).digest('hex')}`).toBe(checksum)
    expect(bytes).toBeGreaterThan(10 * mebibyte)
  })

  it('comes back byte by byte', { timeout: 60_000 }, async () => {
    await upload('world.bin', randomBytes(1000))
    await upload('later.txt', randomBytes(10))
    expect((await api('POST', `/backups/${uuid}/restore`, { truncate: true })).status).toBe(204)
    await eventually(async () => (await status()) === null, 30)
    expect(digest(await download('world.bin'))).toBe(digest(world))
    const names = (await api('GET', '/files/list')).body.data.map(({ attributes }: any) => attributes.name)
    expect(names).not.toContain('later.txt')
    expect(names).not.toContain('cache.tmp')
  })

  it('is locked, unlocked and removed', { timeout: 60_000 }, async () => {
    expect((await api('POST', `/backups/${uuid}/lock`)).body.attributes.is_locked).toBe(true)
    expect((await api('DELETE', `/backups/${uuid}`)).status).toBe(400)
    expect((await api('POST', `/backups/${uuid}/lock`)).body.attributes.is_locked).toBe(false)
    const link = (await api('GET', `/backups/${uuid}/download`)).body.attributes.url
    expect((await api('DELETE', `/backups/${uuid}`)).status).toBe(204)
    expect((await api('GET', `/backups/${uuid}`)).status).toBe(404)
    expect((await fetch(link)).status).toBe(404)
    const events = (await api('GET', '/activity?filter[event]=backup&per_page=100')).body.data.map(
      ({ attributes }: any) => attributes.event,
    )
    expect(events).toEqual(
      expect.arrayContaining([
        'server:backup.start',
        'server:backup.complete',
        'server:backup.restore',
        'server:backup.restore-complete',
        'server:backup.delete',
      ]),
    )
  })
})
