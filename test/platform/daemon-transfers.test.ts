import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { packDirectory } from '../../src/dev/daemon/transfer-archive.ts'
import {
  callDaemon,
  discardDaemon,
  nodeSecret,
  openSocket,
  signToken,
  startTestDaemon,
} from '../support/development-daemon.ts'
import { describeGameServer } from '../support/game-server.ts'
import { startStubPanel, type StubPanel } from '../support/stub-panel.ts'
import { until } from '../support/until.ts'

type TestDaemon = Awaited<ReturnType<typeof startTestDaemon>>

const targetSecret = 'secret-of-the-target-123456789-0123456789-0123456789-0123456789-1'
let panel: StubPanel
let source: TestDaemon
let target: TestDaemon
let uuid: string

beforeEach(async () => {
  panel = await startStubPanel()
  uuid = randomUUID()
  panel.servers.set(uuid, describeGameServer(uuid))
  source = await startTestDaemon(panel, { stopTimeout: 1_000 })
  await source.ready
  panel.servers.clear()
  target = await startTestDaemon(panel, { tokenId: 'target-token-id1', token: targetSecret })
  await target.ready
  panel.servers.set(uuid, describeGameServer(uuid))
})

afterEach(async () => {
  await Promise.all([discardDaemon(source), discardDaemon(target)])
  await panel.close()
})

/** Waits long enough for slow machines. */
const folderOn = (daemon: TestDaemon) => join(daemon.dataDirectory, 'volumes', uuid)
const at = (rest = '') => `/api/servers/${uuid}${rest}`
const transferToken = (claims: object = {}, secret = targetSecret) =>
  signToken(uuid, { scope: 'transfer', sub: uuid, server_uuid: undefined, ...claims }, secret)
const destination = (token = transferToken()) => ({
  url: `${target.url}/api/transfers`,
  token: `Bearer ${token}`,
  server: { uuid, start_on_completion: false },
})
const order = (body: object = destination()) => callDaemon(source, 'POST', at('/transfer'), body)
const asTarget = { Authorization: `Bearer ${targetSecret}` }
/** Lists which node reported which result, in order. */
const reports = () =>
  panel.calls.flatMap(({ method, path, headers, text }) => {
    const [, result] = /\/transfer\/(\w+)$/.exec(path) ?? []
    const who = headers.authorization?.includes('target-token-id1') ? 'target' : 'source'
    return method === 'POST' && result ? [`${who} ${result} ${text}`] : []
  })
const reported = (...expected: string[]) =>
  until(() => expect(reports().toSorted()).toEqual(expected.toSorted()))
const stands = async (daemon: TestDaemon) => {
  const headers = daemon === target ? asTarget : undefined
  return (await callDaemon(daemon, 'GET', at(), undefined, headers)).status === 200
}

/** Random and repetitive, hidden and nested, empty and larger than any buffer on the way. */
async function writeWorld(): Promise<void> {
  const folder = folderOn(source)
  await mkdir(join(folder, 'world', 'region'), { recursive: true })
  await writeFile(join(folder, 'world', 'region', 'r.0.0.mca'), randomBytes(3_000_000))
  await writeFile(join(folder, 'world', 'void.dat'), Buffer.alloc(20_000_000))
  await writeFile(join(folder, 'world', 'empty'), '')
  await writeFile(join(folder, '.hidden'), '\r\n--transfer-\r\n--')
  await writeFile(join(folder, 'start.sh'), 'echo hello', { mode: 0o755 })
  await writeFile(join(folder, 'Überblick 世界.txt'), 'names of all kinds')
}

/** Path to digest of every file below a folder. */
async function digestsOf(folder: string): Promise<Record<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  const digests = files.map(async ({ parentPath, name }) => {
    const path = join(parentPath, name)
    return [
      path.slice(folder.length),
      createHash('sha256')
        .update(await readFile(path))
        .digest('hex'),
    ]
  })
  return Object.fromEntries(await Promise.all(digests))
}

/** Builds a body as a source sends it, with the given archive and checksum. */
function formOf(archive: Buffer, checksum?: string): FormData {
  const form = new FormData()
  form.append('archive', new Blob([new Uint8Array(archive)]), 'archive.tar.gz')
  if (checksum !== undefined) form.append('checksum', checksum)
  return form
}

const send = (body: FormData | string, headers: Record<string, string> = {}) =>
  fetch(`${target.url}/api/transfers`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${transferToken()}`, ...headers },
    body,
  })

async function archiveOf(files: Record<string, string>): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), 'archive-'))
  try {
    for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content)
    const chunks: Buffer[] = []
    for await (const chunk of packDirectory(folder)) chunks.push(chunk)
    return Buffer.concat(chunks)
  } finally {
    await rm(folder, { recursive: true })
  }
}

const digestOf = (archive: Buffer) => createHash('sha256').update(archive).digest('hex')

describe('a transfer', () => {
  it('sends every file to the target, byte for byte, and only the target reports its success', async () => {
    await writeWorld()
    const before = await digestsOf(folderOn(source))
    expect((await order()).status).toBe(202)
    await reported('target success null')
    expect(await digestsOf(folderOn(target))).toEqual(before)
    expect(Object.keys(before)).toHaveLength(6)
    expect((await stat(join(folderOn(target), 'start.sh'))).mode & 0o111).not.toBe(0)
    expect(await stands(target)).toBe(true)
    expect(panel.callsTo('GET', `/servers/${uuid}`)[0]?.headers.authorization).toBe(
      `Bearer target-token-id1.${targetSecret}`,
    )
    expect(await stands(source)).toBe(true)
    await until(async () => expect((await callDaemon(source, 'DELETE', at())).status).toBe(204))
    await until(() => expect(existsSync(folderOn(source))).toBe(false))
    expect(await digestsOf(folderOn(target))).toEqual(before)
  })

  it('leaves links out, and never follows them', async () => {
    await symlink('/etc/passwd', join(folderOn(source), 'passwd'))
    await writeFile(join(folderOn(source), 'kept'), 'kept')
    await order()
    await reported('target success null')
    expect(await readdir(folderOn(target))).toEqual(['kept'])
  })

  it('stops a running server first, which cannot be started on either node meanwhile', async () => {
    expect((await callDaemon(source, 'POST', '/api/servers', { uuid })).status).toBe(202)
    await until(() => expect(panel.callsTo('POST', `/servers/${uuid}/install`)).toHaveLength(1))
    await callDaemon(source, 'POST', at('/power'), { action: 'start' })
    const state = async () => (await (await callDaemon(source, 'GET', at())).json()).state
    await until(async () => expect(await state()).toBe('running'))
    const socket = await openSocket(source, uuid, panel.url, signToken(uuid))
    await until(() => expect(socket.texts('status')).toEqual(['running']))
    expect((await order()).status).toBe(202)
    expect(socket.texts('status')).toEqual(['running', 'stopping', 'offline'])
    socket.send('set state', 'start')
    await until(() => expect(socket.texts('daemon error')).toHaveLength(1))
    expect(await state()).toBe('offline')
    await reported('target success null')
  })

  it('is refused by a source whose server does not stop, which then keeps running', async () => {
    const configuration = panel.servers.get(uuid)!.process_configuration as Record<string, unknown>
    configuration['stop'] = { type: 'command', value: 'unheard' }
    await callDaemon(source, 'POST', '/api/servers', { uuid, start_on_completion: true })
    const state = async () => (await (await callDaemon(source, 'GET', at())).json()).state
    await until(async () => expect(await state()).toBe('running'))
    expect((await order()).status).toBe(500)
    expect((await callDaemon(source, 'DELETE', at('/transfer'))).status).toBe(409)
    expect(reports()).toEqual([])
    await callDaemon(source, 'POST', at('/power'), { action: 'kill' })
    await until(async () => expect(await state()).toBe('offline'))
  })

  it('is published to consoles, which are closed when the panel deletes the server', async () => {
    const socket = await openSocket(
      source,
      uuid,
      panel.url,
      signToken(uuid, { permissions: ['*', 'admin.websocket.transfer'] }),
    )
    const player = await openSocket(source, uuid, panel.url, signToken(uuid))
    await until(() => expect(player.texts('status')).toEqual(['offline']))
    await until(() => expect(socket.texts('status')).toEqual(['offline']))
    await order()
    await reported('target success null')
    await until(() => expect(socket.texts('transfer logs')).toHaveLength(2))
    await callDaemon(source, 'DELETE', at())
    expect(await socket.closed).toBe(1001)
    expect(socket.texts('transfer status')).toEqual(['processing', 'completed'])
    expect(socket.frames.at(-1)?.event).toBe('deleted')
    expect(player.texts('transfer status')).toEqual(['processing', 'completed'])
    expect(player.texts('transfer logs')).toEqual([])
  })

  it('requires a URL and a token, and is refused while another is running', async () => {
    expect((await order({})).status).toBe(400)
    expect((await order({ ...destination(), token: '' })).status).toBe(400)
    expect((await order({ ...destination(), url: null })).status).toBe(400)
    target.faults.push({ route: 'POST /api/transfers', effect: 'hang', times: 1 })
    expect((await order()).status).toBe(202)
    expect((await order()).status).toBe(409)
    expect((await callDaemon(source, 'DELETE', at('/transfer'))).status).toBe(202)
    await reported('source failure null')
    expect((await order()).status).toBe(202)
    await reported('source failure null', 'target success null')
  })
})

describe('a transfer that fails', () => {
  it.each([
    ['a token of another node', () => transferToken({}, nodeSecret)],
    ['a token for something else', () => transferToken({ scope: 'websocket' })],
    ['a token of yesterday', () => transferToken({ exp: Math.floor(Date.now() / 1000) - 60 })],
    ['a token for no server', () => transferToken({ sub: undefined })],
    ['no token at all', () => 'x'],
  ])('by %s is reported by the source alone', async (_name, token) => {
    const socket = await openSocket(source, uuid, panel.url, signToken(uuid))
    await until(() => expect(socket.texts('status')).toEqual(['offline']))
    expect((await order(destination(token()))).status).toBe(202)
    await reported('source failure null')
    await until(() => expect(socket.texts('transfer status')).toEqual(['processing', 'failure']))
    expect(await stands(target)).toBe(false)
  })

  it('because the target cannot be reached is reported by the source', async () => {
    await order({ ...destination(), url: 'http://127.0.0.1:1/api/transfers' })
    await reported('source failure null')
  })

  it('because it is cancelled half-way leaves nothing on the target and everything on the source', async () => {
    await writeFile(join(folderOn(source), 'world'), randomBytes(20_000_000))
    const before = await digestsOf(folderOn(source))
    expect((await order()).status).toBe(202)
    await until(async () => expect(await stands(target)).toBe(true))
    expect((await callDaemon(source, 'DELETE', at('/transfer'))).status).toBe(202)
    await until(() => expect(reports()).toContain('source failure null'))
    await until(async () => expect(await stands(target)).toBe(false))
    await until(() => expect(existsSync(folderOn(target))).toBe(false))
    expect(await digestsOf(folderOn(source))).toEqual(before)
    expect(reports()).not.toContain('target success null')
    await until(async () => expect((await callDaemon(source, 'DELETE', at('/transfer'))).status).toBe(409))
  })

  it.each([
    ['a wrong checksum', async () => formOf(await archiveOf({ a: 'a' }), 'f'.repeat(64))],
    ['no checksum', async () => formOf(await archiveOf({ a: 'a' }))],
    ['no archive', async () => new FormData()],
    ['an invalid archive', async () => formOf(randomBytes(5_000), digestOf(Buffer.alloc(0)))],
    [
      'an archive that ends early',
      async () => {
        const archive = (await archiveOf({ a: randomBytes(9_000).toString('hex') })).subarray(0, 5_000)
        return formOf(archive, digestOf(archive))
      },
    ],
  ])('by %s leaves nothing on the target, which reports it', async (_name, form) => {
    expect((await send(await form())).status).toBe(500)
    expect(reports()).toEqual(['target failure null'])
    expect(await stands(target)).toBe(false)
    expect(existsSync(folderOn(target))).toBe(false)
  })

  it('before the panel was called is not reported by the target', async () => {
    const archive = await archiveOf({ a: 'a' })
    expect((await send('text', { 'Content-Type': 'text/plain' })).status).toBe(400)
    panel.refuse = ({ method }) => (method === 'GET' ? 403 : undefined)
    expect((await send(formOf(archive, digestOf(archive)))).status).toBe(500)
    expect(reports()).toEqual([])
    expect((await fetch(`${target.url}/api/transfers`, { method: 'POST' })).status).toBe(401)
  })

  it('because the panel refuses the success leaves the server on the source', async () => {
    await writeFile(join(folderOn(source), 'kept'), 'kept')
    panel.refuse = ({ path }) => (path.endsWith('/transfer/success') ? 409 : undefined)
    await order()
    await until(() => expect(reports()).toContain('source failure null'))
    expect(await stands(target)).toBe(false)
    expect(existsSync(folderOn(target))).toBe(false)
    expect(await readdir(folderOn(source))).toEqual(['kept'])
    expect((await callDaemon(source, 'POST', at('/power'), { action: 'stop' })).status).toBe(202)
  })
})

describe('a target', () => {
  it('keeps what may be the only copy when the response to its success was lost', async () => {
    await writeFile(join(folderOn(source), 'kept'), 'kept')
    panel.refuse = ({ path }) => (/\/transfer\//.test(path) ? 409 : undefined)
    await order()
    await until(() => expect(panel.callsTo('GET', `/servers/${uuid}`)).toHaveLength(2))
    await until(async () => expect(await stands(target)).toBe(true))
    expect(await readdir(folderOn(target))).toEqual(['kept'])
  })

  it('refuses a server that it has', async () => {
    await order()
    await reported('target success null')
    const archive = await archiveOf({ a: 'a' })
    expect((await send(formOf(archive, digestOf(archive)))).status).toBe(409)
    expect(reports()).toEqual(['target success null'])
  })

  it('aborts what it receives when the panel deletes the server or cancels the transfer', async () => {
    const url = `/api/transfers/${uuid}`
    expect((await callDaemon(target, 'DELETE', url, undefined, asTarget)).status).toBe(404)
    expect((await callDaemon(target, 'DELETE', url, undefined, {})).status).toBe(401)
    for (const path of [url, at()]) {
      const body = new TransformStream<Uint8Array, Uint8Array>()
      const writer = body.writable.getWriter()
      const request = {
        method: 'POST',
        headers: {
          Authorization: `Bearer ${transferToken()}`,
          'Content-Type': 'multipart/form-data; boundary="b"',
        },
        body: body.readable,
        duplex: 'half',
      }
      const sending = fetch(`${target.url}/api/transfers`, request).then(
        ({ status }) => status,
        () => 'cut off',
      )
      void writer
        .write(Buffer.from('--b\r\nContent-Disposition: form-data; name="archive"\r\n\r\n'))
        .catch(() => {})
      await until(async () => expect(await stands(target)).toBe(true))
      const answer = await callDaemon(target, 'DELETE', path, undefined, asTarget)
      expect(answer.status).toBe(path === url ? 202 : 204)
      expect(await sending).toBe('cut off')
      await until(() => expect(existsSync(folderOn(target))).toBe(false))
      expect(await stands(target)).toBe(false)
    }
    expect(reports()).not.toContain('target success null')
  })
})
