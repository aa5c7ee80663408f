import { createHash, randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type PanelProcess, startPanelProcess } from '../support/panel-process.ts'

/** Larger than any chunk, and not compressible. */
const world = randomBytes(20 * 1024 * 1024)
const digest = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

let panel: PanelProcess
let at: string

beforeAll(async () => {
  panel = await startPanelProcess()
  at = `/servers/${panel.bootstrap.server.uuid}`
}, 60_000)
afterAll(() => panel?.stop())

const api = (method: string, path: string, body?: unknown) => panel.asPlayer(method, `${at}${path}`, body)
const names = async (directory: string) =>
  (await api('GET', `/files/list?directory=${encodeURIComponent(directory)}`)).body.data.map(
    ({ attributes }: any) => attributes.name,
  )
const trash = async () => (await api('GET', '/trash')).body.data as { id: string; path: string }[]

/** Sends and returns raw file bodies. */
async function raw(method: string, path: string, body?: string) {
  const { url, user } = panel.bootstrap
  const answer = await fetch(`${url}/api/client${at}/files/${path}`, {
    method,
    headers: { authorization: `Bearer ${user.client_key}`, 'content-type': 'text/plain' },
    ...(body === undefined ? {} : { body }),
  })
  return { status: answer.status, text: await answer.text() }
}

async function upload(directory: string, name: string, content: Uint8Array<ArrayBuffer>): Promise<number> {
  const { body } = await api('GET', '/files/upload')
  const form = new FormData()
  form.append('files', new Blob([content]), name)
  const url = `${body.attributes.url}&directory=${encodeURIComponent(directory)}`
  return (await fetch(url, { method: 'POST', body: form })).status
}

async function download(file: string): Promise<Uint8Array> {
  const { body } = await api('GET', `/files/download?file=${encodeURIComponent(file)}`)
  const answer = await fetch(body.attributes.url)
  expect(answer.status).toBe(200)
  return new Uint8Array(await answer.arrayBuffer())
}

describe('the files of a server', { timeout: 60_000 }, () => {
  it('come by a signed link, straight to the node, and go the same way', async () => {
    expect((await api('POST', '/files/create-folder', { root: '/', name: 'worlds' })).status).toBe(204)
    expect(await upload('/worlds', 'region.mca', world)).toBe(200)
    expect(digest(await download('/worlds/region.mca'))).toBe(digest(world))
    const { body } = await api('GET', '/files/upload')
    const once = () => fetch(body.attributes.url, { method: 'POST', body: new FormData() })
    expect((await once()).status).toBe(400)
    expect((await once()).status).toBe(404)
  })

  it('are edited', async () => {
    const text = '{ "motd": "Grüße\\n" }\n'
    expect((await raw('POST', 'write?file=/worlds/settings.json', text)).status).toBe(204)
    expect(await raw('GET', 'contents?file=/worlds/settings.json')).toEqual({ status: 200, text })
    expect((await raw('GET', 'contents?file=/worlds/region.mca')).status).toBe(400)
    expect((await raw('GET', 'contents?file=/worlds')).status).toBe(400)
    expect((await raw('GET', 'contents?file=/nowhere.txt')).status).toBe(404)
  })

  it('are packed and unpacked', async () => {
    const packed = await api('POST', '/files/compress', { root: '/', files: ['worlds'] })
    expect([packed.status, packed.body.attributes?.mimetype]).toEqual([200, expect.stringContaining('gzip')])
    const archive = packed.body.attributes.name
    const rename = { root: '/', files: [{ from: 'worlds', to: 'original' }] }
    expect((await api('PUT', '/files/rename', rename)).status).toBe(204)
    expect((await api('POST', '/files/decompress', { root: '/', file: archive })).status).toBe(204)
    expect(await names('/')).toEqual(expect.arrayContaining(['worlds', 'original', archive]))
    expect(digest(await download('/worlds/region.mca'))).toBe(digest(world))
    // As stock daemons answer for a missing entry.
    const missing = { root: '/', files: [{ from: 'gone', to: 'x' }] }
    expect((await api('PUT', '/files/rename', missing)).status).toBe(204)
  })

  it('go to the trash and come back, but never over what is there', async () => {
    expect(
      (await api('POST', '/trash', { root: '/worlds', files: ['region.mca', 'settings.json'] })).status,
    ).toBe(204)
    expect(await names('/worlds')).toEqual([])
    expect((await names('/')).filter((name: string) => name.includes('trash'))).toEqual([])
    const [settings, region] = (await trash()).toSorted((a, b) => b.path.localeCompare(a.path))
    expect([settings?.path, region?.path]).toEqual(['/worlds/settings.json', '/worlds/region.mca'])
    expect((await raw('POST', 'write?file=/worlds/region.mca', 'new')).status).toBe(204)
    expect((await api('POST', `/trash/${region?.id}/restore`)).status).toBe(409)
    expect((await raw('GET', 'contents?file=/worlds/region.mca')).text).toBe('new')
    expect((await api('POST', '/files/delete', { root: '/worlds', files: ['region.mca'] })).status).toBe(204)
    expect((await api('POST', `/trash/${region?.id}/restore`)).status).toBe(204)
    expect(digest(await download('/worlds/region.mca'))).toBe(digest(world))
    expect((await api('DELETE', `/trash/${settings?.id}`)).status).toBe(204)
    expect(await trash()).toEqual([])
    expect((await api('POST', `/trash/${settings?.id}/restore`)).status).toBe(404)
  })

  it('leave a trace of each change', async () => {
    const { body } = await api('GET', '/activity?per_page=100&sort=timestamp')
    const seen = body.data.map(({ attributes }: any) => attributes.event)
    expect(seen.filter((event: string) => event.startsWith('server:file.'))).toEqual([
      'server:file.create-directory',
      'server:file.download',
      'server:file.write',
      'server:file.read',
      'server:file.compress',
      'server:file.rename',
      'server:file.decompress',
      'server:file.download',
      'server:file.trash.move',
      'server:file.write',
      'server:file.read',
      'server:file.delete',
      'server:file.trash.restore',
      'server:file.download',
      'server:file.trash.delete',
    ])
    const move = body.data.find(({ attributes }: any) => attributes.event === 'server:file.trash.move')
    expect(move.attributes.properties).toMatchObject({ directory: '/worlds/', count: 2 })
    const filtered = await api('GET', '/activity?filter[event]=trash')
    expect(filtered.body.meta.pagination.total).toBe(3)
    expect(filtered.body.meta.available_events).toContain('server:file.compress')
  })
})
