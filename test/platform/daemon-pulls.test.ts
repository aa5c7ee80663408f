import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { DaemonOptions } from '../../src/dev/daemon/daemon.ts'
import { type DaemonWithServer, startDaemonWithServer } from '../support/daemon-server.ts'
import { callDaemon } from '../support/development-daemon.ts'

const content = randomBytes(2_000_000)
let at: DaemonWithServer
let folder: string
let site: Server
let address: string
/** Responses that stay open halfway. */
let open: ServerResponse[]

beforeEach(async () => {
  open = []
  site = createServer((request, response) => {
    const path = request.url?.split('?')[0] ?? ''
    const length = { 'Content-Length': content.length }
    if (path === '/slow') open.push(response.writeHead(200, length))
    if (path === '/slow') return void response.write(content.subarray(0, 500_000))
    if (path === '/chunked') response.write('of some length')
    if (path === '/chunked') return void response.end()
    if (path === '/moved') return void response.writeHead(302, { Location: '/file.jar' }).end()
    if (path === '/cut') return void response.writeHead(200, length).write('cut', () => response.destroy())
    if (path === '/missing') return void response.writeHead(404, length).end(content)
    response.writeHead(200, { ...length, 'Content-Disposition': 'attachment; filename="../named.jar"' })
    response.end(content)
  })
  site.listen(0, '127.0.0.1')
  await once(site, 'listening')
  address = `http://127.0.0.1:${(site.address() as AddressInfo).port}`
})

afterEach(async () => {
  await at.close()
  site.closeAllConnections()
  site.close()
})

async function start(options: Partial<DaemonOptions> = { allowLocalPulls: true }): Promise<void> {
  at = await startDaemonWithServer(options)
  folder = at.folder
}

const call = (method: string, route: string, body?: unknown) => at.call(method, `pull${route}`, body)
const pull = (path: string, options: object = {}) =>
  call('POST', '', { root: '/', url: `${address}${path}`, ...options })
const underWay = async () =>
  ((await (await call('GET', '')).json()) as { downloads: { Identifier: string; Progress: number }[] | null })
    .downloads

describe('pull', () => {
  it('fetches in the foreground and answers with the file', async () => {
    await start()
    const answer = await pull('/a%20b.jar?x=1', { foreground: true })
    expect(answer.status).toBe(200)
    expect(await answer.json()).toMatchObject({ name: 'a b.jar', size: content.length, mode: '-rw-r--r--' })
    expect((await readFile(join(folder, 'a b.jar'))).equals(content)).toBe(true)
    expect(await underWay()).toBeNull()
  })

  it('gives the file the requested name, in a folder that need not exist', async () => {
    await start()
    await pull('/x', { foreground: true, root: '/mods/../mods', file_name: 'given.jar' })
    await pull('/x', { foreground: true, root: null, directory: 'mods', use_header: true })
    await pull('/x', { foreground: true, root: 'mods', file_name: '../../up.jar' })
    expect(await readdir(join(folder, 'mods'))).toEqual(['given.jar', 'named.jar'])
    expect((await readdir(folder)).toSorted()).toEqual(['mods', 'up.jar'])
  })

  it('runs in the background and reports its progress', async () => {
    await start()
    const answer = await pull('/slow')
    expect(answer.status).toBe(202)
    const { identifier } = (await answer.json()) as { identifier: string }
    await expect.poll(underWay).toEqual([{ Identifier: identifier, Progress: 0.25 }])
    open[0]?.end(content.subarray(500_000))
    await expect.poll(underWay).toBeNull()
    expect((await readFile(join(folder, 'slow'))).equals(content)).toBe(true)
  })

  it('stops when it is deleted, and keeps what was written', async () => {
    await start()
    const { identifier } = (await (await pull('/slow')).json()) as { identifier: string }
    await expect.poll(async () => (await underWay())?.[0]?.Progress).toBe(0.25)
    expect((await call('DELETE', `/${randomUUID()}`)).status).toBe(204)
    expect(await underWay()).toHaveLength(1)
    expect((await call('DELETE', `/${identifier}`)).status).toBe(204)
    expect(await underWay()).toBeNull()
    expect(await readdir(folder)).toEqual(['slow'])
    expect((await readFile(join(folder, 'slow'))).length).toBeLessThan(content.length)
  })

  it('runs at most three at once', async () => {
    await start()
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, count) => pull('/slow', { file_name: `slow-${count}` })),
    )
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      ...Array<number>(3).fill(202),
      ...Array<number>(9).fill(400),
    ])
    expect(await underWay()).toHaveLength(3)
  })

  it.each(['/moved', '/chunked', '/missing', '/cut'])('fails for %s', async (path) => {
    await start()
    expect((await pull(path, { foreground: true })).status).toBe(500)
    expect((await pull(path)).status).toBe(202)
    await expect.poll(underWay).toBeNull()
    expect(await readdir(folder)).toEqual(path === '/cut' ? ['cut'] : [])
  })

  it('fails for a URL that cannot be reached or fetched, and a file that cannot be written', async () => {
    await start()
    await mkdir(join(folder, 'dir'))
    await writeFile(join(folder, 'file'), 'x')
    for (const url of ['http://127.0.0.1:1/a', 'ftp://127.0.0.1/a', 'file:///etc/passwd', 'data:,a']) {
      expect((await pull('', { foreground: true, url })).status).toBe(500)
    }
    expect((await pull('/a', { foreground: true, file_name: 'dir' })).status).toBe(500)
    expect((await pull('/a', { foreground: true, root: 'file' })).status).toBe(500)
    expect((await readdir(folder)).toSorted()).toEqual(['dir', 'file'])
  })

  it('requires a URL and a folder', async () => {
    await start()
    expect((await pull('/a', { url: '' })).status).toBe(400)
    expect((await pull('/a', { url: 'no address' })).status).toBe(400)
    expect((await pull('/a', { root: '' })).status).toBe(400)
    expect((await pull('/a', { root: 5 })).status).toBe(400)
  })

  it('reaches no loopback or private address unless the daemon allows it', async () => {
    await start({})
    const { port } = site.address() as AddressInfo
    const hosts = [
      '127.0.0.1',
      'localhost',
      '2130706433',
      '[::1]',
      '[::ffff:127.0.0.1]',
      '10.0.0.1',
      '0.0.0.0',
    ]
    for (const host of [...hosts, '192.168.1.1', '169.254.169.254', '100.64.0.1', '[fd00::1]', '[fe80::1]']) {
      const answer = await pull('', { foreground: true, url: `http://${host}:${port}/a` })
      expect([host, answer.status]).toEqual([host, 500])
    }
    expect(await readdir(folder)).toEqual([])
  })

  it('can be disabled by the configuration of the node', async () => {
    await start()
    await callDaemon(at.daemon, 'POST', '/api/update', { api: { disable_remote_download: true } })
    expect((await pull('/a')).status).toBe(400)
    expect((await call('GET', '')).status).toBe(400)
    expect((await call('DELETE', '/x')).status).toBe(400)
  })

  it('ends with its server', async () => {
    await start()
    await pull('/slow')
    await expect.poll(async () => (await underWay())?.[0]?.Progress).toBe(0.25)
    expect((await callDaemon(at.daemon, 'DELETE', `/api/servers/${at.uuid}`)).status).toBe(204)
    const volumes = join(at.daemon.dataDirectory, 'volumes')
    await expect.poll(() => readdir(volumes)).toEqual([])
  })
})
