import { randomBytes, randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import type { Profile } from '../../src/dev/daemon/daemon.ts'
import { type DaemonWithServer, startDaemonWithServer } from '../support/daemon-server.ts'
import { callDaemon, discardDaemon, signToken, startTestDaemon } from '../support/development-daemon.ts'
import { startStubPanel } from '../support/stub-panel.ts'

const user = randomUUID()
let at: DaemonWithServer
let folder: string

async function start(profile: Profile = '1.13'): Promise<void> {
  at = await startDaemonWithServer({ profile }, ['*.key'])
  folder = at.folder
}

afterEach(() => at.close())

const token = (scope: string, claims: object = {}) =>
  signToken(at.uuid, { scope, user_uuid: user, unique_id: randomBytes(8).toString('hex'), ...claims })
const forFile = (path: string, claims: object = {}) => token('file-download', { file_path: path, ...claims })
const download = (signed: string) => fetch(`${at.daemon.url}/download/file?token=${signed}`)
const downloadStatus = async (signed: string) => (await download(signed)).status

type Upload = { name: string; content: string | Uint8Array<ArrayBuffer> }
const formOf = (files: Upload[], field = 'files') => {
  const form = new FormData()
  for (const { name, content } of files) form.append(field, new Blob([content]), name)
  return form
}
const upload = (
  body: BodyInit,
  { signed = token('file-upload'), directory = '/' }: { signed?: string; directory?: string } = {},
) =>
  fetch(`${at.daemon.url}/upload/file?token=${signed}&directory=${encodeURIComponent(directory)}`, {
    method: 'POST',
    body,
  })
/** Returns the activity that the daemon reports to the panel, which it does when it stops. */
async function activities(): Promise<Record<string, unknown>[]> {
  await at.daemon.close()
  return at.panel
    .callsTo('POST', '/activity')
    .flatMap(({ body }) => (body as { data: Record<string, unknown>[] }).data)
}

describe('a signed download', () => {
  it('sends a file once', async () => {
    await start()
    const content = randomBytes(3_000_000)
    await mkdir(join(folder, 'a'))
    await writeFile(join(folder, 'a', 'x "1".bin'), content)
    const signed = forFile('/a/x "1".bin')
    const answer = await download(signed)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('Content-Type')).toBe('application/octet-stream')
    expect(answer.headers.get('Content-Length')).toBe('3000000')
    expect(answer.headers.get('Content-Disposition')).toBe('attachment; filename="x \\"1\\".bin"')
    expect(answer.headers.get('Access-Control-Allow-Origin')).toBe(at.panel.url)
    expect(Buffer.from(await answer.arrayBuffer()).equals(content)).toBe(true)
    expect(await downloadStatus(signed)).toBe(404)
  })

  it('sends a file to one of many concurrent requests', async () => {
    await start()
    await writeFile(join(folder, 'a'), 'a')
    const signed = forFile('a')
    const answers = await Promise.all(Array.from({ length: 12 }, () => downloadStatus(signed)))
    expect(answers.toSorted((a, b) => a - b)).toEqual([200, ...Array<number>(11).fill(404)])
  })

  it('answers 500 for an invalid or expired token and 404 for one of another scope', async () => {
    await start()
    await writeFile(join(folder, 'a'), 'a')
    const past = Math.floor(Date.now() / 1_000) - 1
    expect(await downloadStatus('')).toBe(500)
    expect(await downloadStatus('a.b.c')).toBe(500)
    expect(await downloadStatus(`${forFile('a')}x`)).toBe(500)
    expect(
      await downloadStatus(signToken(at.uuid, { scope: 'file-download', file_path: 'a' }, 'other')),
    ).toBe(500)
    expect(await downloadStatus(forFile('a', { exp: past }))).toBe(500)
    expect(await downloadStatus(forFile('a', { exp: undefined }))).toBe(500)
    expect(await downloadStatus(forFile('a', { server_uuid: randomUUID() }))).toBe(404)
    for (const scope of ['file-upload', 'backup-download', 'websocket', undefined]) {
      expect(await downloadStatus(forFile('a', { scope }))).toBe(404)
    }
    expect(await downloadStatus(forFile('a', { scope: 'file-upload file-download' }))).toBe(200)
  })

  it('is used up by a request that fails, and tokens without an id share one', async () => {
    await start()
    const signed = forFile('late')
    expect(await downloadStatus(signed)).toBe(404)
    await writeFile(join(folder, 'late'), 'x')
    expect(await downloadStatus(signed)).toBe(404)
    expect(await downloadStatus(forFile('late', { unique_id: undefined }))).toBe(200)
    expect(await downloadStatus(forFile('late', { unique_id: undefined }))).toBe(404)
  })

  it('leads nowhere outside the server', async () => {
    await start()
    await writeFile(join(at.daemon.dataDirectory, 'secret'), 'secret')
    await symlink('../../secret', join(folder, 'link'))
    expect(await downloadStatus(forFile('../../secret'))).toBe(404)
    expect(await downloadStatus(forFile('link'))).toBe(500)
    expect(await downloadStatus(forFile('/'))).toBe(400)
  })

  it('has neither scopes nor 404 for files on 1.11', async () => {
    await start('1.11')
    await mkdir(join(folder, 'dir'))
    await writeFile(join(folder, 'a'), 'a')
    expect(await downloadStatus(forFile('a', { scope: undefined }))).toBe(200)
    expect(await downloadStatus(forFile('missing'))).toBe(500)
    expect(await downloadStatus(forFile('dir'))).toBe(500)
  })

  it('requires a user on pelican', async () => {
    await start('pelican')
    await writeFile(join(folder, 'a'), 'a')
    expect(await downloadStatus(forFile('a', { user_uuid: undefined }))).toBe(404)
    expect(await downloadStatus(forFile('a'))).toBe(200)
  })

  it('is revoked with its user’s tokens from 1.12 on', async () => {
    await start('1.12')
    await writeFile(join(folder, 'a'), 'a')
    await mkdir(join(folder, 'up'))
    const [first, second] = [forFile('a'), token('file-upload')]
    const body = { user, servers: [at.uuid] }
    expect((await callDaemon(at.daemon, 'POST', '/api/deauthorize-user', body)).status).toBe(204)
    expect(await downloadStatus(first)).toBe(404)
    expect((await upload(formOf([{ name: 'x', content: 'x' }]), { signed: second })).status).toBe(404)
    expect(await downloadStatus(forFile('a', { user_uuid: randomUUID() }))).toBe(200)
    const later = Math.floor(Date.now() / 1_000) + 2
    expect(await downloadStatus(forFile('a', { iat: later }))).toBe(200)
    expect(await readdir(join(folder, 'up'))).toEqual([])
  })

  it('waits for the boot', async () => {
    await start()
    const panel = await startStubPanel()
    panel.refuse = () => 500
    const late = await startTestDaemon(panel, { retry: { first: 10, max: 20, total: 5_000 } })
    expect((await fetch(`${late.url}/download/file?token=${forFile('a')}`)).status).toBe(503)
    expect((await fetch(`${late.url}/upload/file`, { method: 'POST', body: 'x' })).status).toBe(503)
    await discardDaemon(late)
    await panel.close()
    await expect(late.ready).rejects.toThrow()
  })
})

describe('a signed upload', () => {
  it('writes many files, replaces existing ones, and reports each', async () => {
    await start()
    await mkdir(join(folder, 'mods'))
    await writeFile(join(folder, 'mods/b.txt'), 'before')
    const files = [
      { name: 'Überblick 世界 "1".txt', content: 'ü' },
      { name: 'b.txt', content: 'after' },
      { name: 'empty', content: '' },
    ]
    const answer = await upload(formOf(files), { directory: '/mods/' })
    expect(answer.status).toBe(200)
    expect(await answer.text()).toBe('')
    expect(answer.headers.get('Access-Control-Allow-Origin')).toBe(at.panel.url)
    expect(await readFile(join(folder, 'mods/b.txt'), 'utf8')).toBe('after')
    const names = (await readdir(join(folder, 'mods'))).toSorted()
    expect(names).toEqual(['b.txt', 'empty', 'Überblick 世界 %221%22.txt'])
    expect(await at.spooled()).toEqual([])
    expect(await activities()).toEqual(
      ['Überblick 世界 %221%22.txt', 'b.txt', 'empty'].map((file) => ({
        user,
        server: at.uuid,
        event: 'server:file.uploaded',
        metadata: { file, directory: '/mods' },
        ip: '127.0.0.1',
        timestamp: expect.any(String),
      })),
    )
  })

  it('streams 20 MB', async () => {
    await start()
    const content = randomBytes(20_000_000)
    expect((await upload(formOf([{ name: 'big.bin', content }]), { directory: 'new/folder' })).status).toBe(
      200,
    )
    expect((await readFile(join(folder, 'new/folder/big.bin'))).equals(content)).toBe(true)
  })

  it('writes nothing when one file is above the limit of the node', async () => {
    await start()
    await callDaemon(at.daemon, 'POST', '/api/update', { api: { upload_limit: 1 } })
    const exact = { name: 'exact', content: new Uint8Array(1_048_576) }
    const above = { name: 'above', content: new Uint8Array(1_048_577) }
    expect((await upload(formOf([exact, above, exact]))).status).toBe(400)
    expect(await readdir(folder)).toEqual([])
    expect((await upload(formOf([exact]))).status).toBe(200)
    expect(await readdir(folder)).toEqual(['exact'])
    expect(await at.spooled()).toEqual([])
  })

  it('is refused without files, and when the form is incomplete', async () => {
    await start()
    expect((await upload(formOf([{ name: 'a', content: 'a' }], 'file'))).status).toBe(400)
    const value = new FormData()
    value.append('files', 'text')
    expect((await upload(value)).status).toBe(400)
    expect((await upload('text')).status).toBe(400)
    const broken = new Blob(['--b\r\nContent-Disposition: form-data; name="files"; filename="a"\r\n\r\nx'], {
      type: 'multipart/form-data; boundary=b',
    })
    expect((await upload(broken)).status).toBe(400)
    expect(await readdir(folder)).toEqual([])
    expect(await activities()).toEqual([])
  })

  it('reads escaped names', async () => {
    await start()
    const head = 'Content-Disposition: form-data; name="files"; filename="dir/a \\"b\\".txt"'
    const body = new Blob([`--b\r\n${head}\r\n\r\nx\r\n--b--\r\n`], {
      type: 'multipart/form-data; boundary=b',
    })
    expect((await upload(body)).status).toBe(200)
    expect(await readdir(folder)).toEqual(['a "b".txt'])
  })

  it('leaves nothing when the client disconnects', async () => {
    await start()
    const { hostname, port } = new URL(at.daemon.url)
    const outgoing = request({
      host: hostname,
      port,
      method: 'POST',
      path: `/upload/file?token=${token('file-upload')}`,
      headers: { 'Content-Type': 'multipart/form-data; boundary=b' },
    })
    outgoing.on('error', () => {})
    outgoing.write('--b\r\nContent-Disposition: form-data; name="files"; filename="a"\r\n\r\nthe beginning')
    await expect.poll(at.spooled).toHaveLength(1)
    outgoing.destroy()
    await expect.poll(at.spooled).toEqual([])
    expect(await readdir(folder)).toEqual([])
  })

  it('is valid once, also for a large body', async () => {
    await start()
    const signed = token('file-upload')
    expect((await upload(formOf([{ name: 'a', content: 'first' }]), { signed })).status).toBe(200)
    const again = formOf([{ name: 'a', content: new Uint8Array(5_000_000) }])
    expect((await upload(again, { signed })).status).toBe(404)
    expect((await upload(formOf([{ name: 'a', content: 'x' }]), { signed: forFile('a') })).status).toBe(404)
    expect((await upload(formOf([{ name: 'a', content: 'x' }]), { signed: 'x' })).status).toBe(500)
    expect(await readFile(join(folder, 'a'), 'utf8')).toBe('first')
  })

  it('stops at a denied name; the files before it are written', async () => {
    await start()
    const files = ['a', 'my.key', 'z'].map((name) => ({ name, content: name }))
    expect((await upload(formOf(files))).status).toBe(403)
    expect(await readdir(folder)).toEqual(['a'])
    expect((await activities()).map(({ metadata }) => metadata)).toEqual([{ file: 'a', directory: '/' }])
  })

  it('stays in the server, and replaces no folder and no link', async () => {
    await start()
    const secret = join(at.daemon.dataDirectory, 'secret')
    await mkdir(secret)
    await symlink(secret, join(folder, 'link'))
    await symlink('target', join(folder, 'file-link'))
    await mkdir(join(folder, 'dir'))
    const one = (name: string) => formOf([{ name, content: 'x' }])
    expect((await upload(one('../../evil'), { directory: '../..' })).status).toBe(200)
    expect((await upload(one('x'), { directory: 'link' })).status).toBe(500)
    expect((await upload(one('file-link'))).status).toBe(500)
    expect((await upload(one('dir'))).status).toBe(400)
    expect((await upload(one('..'))).status).toBe(400)
    expect((await readdir(folder)).toSorted()).toEqual(['dir', 'evil', 'file-link', 'link'])
    expect(await readdir(secret)).toEqual([])
  })

  it('keeps the whole content of one of many writers', async () => {
    await start()
    const contents = Array.from({ length: 12 }, (_, at) => String.fromCharCode(97 + at).repeat(300_000))
    const answers = await Promise.all(contents.map((content) => upload(formOf([{ name: 'same', content }]))))
    expect(answers.map(({ status }) => status)).toEqual(contents.map(() => 200))
    expect(contents).toContain(await readFile(join(folder, 'same'), 'utf8'))
  })
})
