import { randomBytes, randomUUID } from 'node:crypto'
import { lstat, mkdir, readdir, readlink, symlink, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type DaemonWithServer, fileRoutesOf, startDaemonWithServer } from '../support/daemon-server.ts'
import { callDaemon, nodeSecret } from '../support/development-daemon.ts'

let at: DaemonWithServer
let folder: string

beforeEach(async () => {
  at = await startDaemonWithServer({ profile: '1.11' })
  folder = at.folder
})

afterEach(() => at.close())

const { statusOf, write, read, list, rename, remove, chmod, onDisk } = fileRoutesOf(() => at)

describe('the file routes', () => {
  it('need the token and a known server', async () => {
    const path = `/api/servers/${at.uuid}/files/contents?file=a`
    expect((await callDaemon(at.daemon, 'GET', path, undefined, {})).status).toBe(401)
    const unknown = `/api/servers/${randomUUID()}/files/contents?file=a`
    expect((await callDaemon(at.daemon, 'GET', unknown)).status).toBe(404)
  })

  it('write, overwrite, and show a file with the folders above it', async () => {
    expect(await write('/world/Überblick 世界.txt', 'first and long')).toBe(204)
    expect(await write('world//./x/../Überblick 世界.txt', 'second ü')).toBe(204)
    expect(await readdir(join(folder, 'world'))).toEqual(['Überblick 世界.txt'])
    const answer = await read('/world/Überblick 世界.txt')
    expect(answer.status).toBe(200)
    expect(answer.headers.get('X-Mime-Type')).toBe('text/plain; charset=utf-8')
    expect(answer.headers.get('Content-Length')).toBe('9')
    expect(answer.headers.get('Content-Disposition')).toBeNull()
    expect(await answer.text()).toBe('second ü')
    const download = await at.call(
      'GET',
      `contents?download=1&file=${encodeURIComponent('/world/Überblick 世界.txt')}`,
    )
    expect(download.headers.get('Content-Type')).toBe('application/octet-stream')
    expect(download.headers.get('Content-Disposition')).toBe(
      `attachment; filename="_berblick __.txt"; filename*=UTF-8''${encodeURIComponent('Überblick 世界.txt')}`,
    )
    expect(await download.text()).toBe('second ü')
  })

  it('write and show an empty file and one of any bytes', async () => {
    expect(await write('empty', '')).toBe(204)
    const empty = await read('empty')
    expect([empty.status, empty.headers.get('Content-Length'), await empty.text()]).toEqual([200, '0', ''])
    const bytes = randomBytes(3_000_000)
    const answer = await fetch(`${at.daemon.url}/api/servers/${at.uuid}/files/write?file=bytes`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${nodeSecret}` },
      body: new Uint8Array(bytes),
    })
    expect(answer.status).toBe(204)
    expect(Buffer.from(await (await read('bytes')).arrayBuffer()).equals(bytes)).toBe(true)
  })

  it('refuse a body of unknown length', async () => {
    const chunked = await fetch(`${at.daemon.url}/api/servers/${at.uuid}/files/write?file=a`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${nodeSecret}` },
      body: new Blob(['text']).stream(),
      duplex: 'half',
    } as RequestInit)
    expect(chunked.status).toBe(400)
    expect(await readdir(folder)).toEqual([])
  })

  it('keep the old content when the client disconnects in the middle', async () => {
    await write('a', 'old')
    const { hostname, port } = new URL(at.daemon.url)
    const outgoing = request({
      host: hostname,
      port,
      method: 'POST',
      path: `/api/servers/${at.uuid}/files/write?file=a`,
      headers: { Authorization: `Bearer ${nodeSecret}`, 'Content-Length': '1000' },
    })
    outgoing.on('error', () => {})
    outgoing.write('new')
    await expect.poll(at.spooled).toHaveLength(1)
    outgoing.destroy()
    await expect.poll(at.spooled).toHaveLength(0)
    expect(await onDisk('a')).toBe('old')
  })

  it('never mix the contents of concurrent writers', async () => {
    const contents = Array.from({ length: 20 }, (_, at) => String.fromCharCode(97 + at).repeat(200_000 + at))
    expect(await Promise.all(contents.map((content) => write('deep/er/a', content)))).toEqual(
      contents.map(() => 204),
    )
    expect(contents).toContain(await onDisk('deep/er/a'))
    expect(await readdir(join(folder, 'deep/er'))).toEqual(['a'])
  })

  it('refuse to write over a folder, below a file, and with a name that is too long', async () => {
    await mkdir(join(folder, 'dir'))
    await write('file', 'x')
    expect(await write('dir', 'x')).toBe(400)
    expect(await write('/', 'x')).toBe(400)
    expect(await write('file/below', 'x')).toBe(500)
    expect(await write('n'.repeat(256), 'x')).toBe(400)
    expect((await readdir(folder)).toSorted()).toEqual(['dir', 'file'])
  })

  it('keep the mode of a file that is written again', async () => {
    await write('start.sh', 'a')
    expect((await lstat(join(folder, 'start.sh'))).mode & 0o777).toBe(0o644)
    expect(await chmod('start.sh', '755')).toBe(204)
    await write('start.sh', 'b')
    expect((await lstat(join(folder, 'start.sh'))).mode & 0o777).toBe(0o755)
  })

  it('list everything, files first, as Wings describes it', async () => {
    await mkdir(join(folder, '.trash'))
    await mkdir(join(folder, 'plugins'))
    await writeFile(join(folder, 'server.properties'), 'a=b\n', { mode: 0o640 })
    await writeFile(join(folder, '.hidden.json'), '{"a":1}')
    await writeFile(join(folder, 'image'), Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'))
    await writeFile(join(folder, 'zero'), Buffer.alloc(9))
    await symlink('missing', join(folder, 'link'))
    const entries = await list('')
    expect(entries.map(({ name }) => name)).toEqual([
      '.hidden.json',
      'image',
      'link',
      'server.properties',
      'zero',
      '.trash',
      'plugins',
    ])
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(Z|[+-]\d\d:\d\d)$/)
    expect(entries[3]).toEqual({
      name: 'server.properties',
      created: time,
      modified: time,
      mode: '-rw-r-----',
      mode_bits: '640',
      size: 4,
      directory: false,
      file: true,
      symlink: false,
      mime: 'text/plain; charset=utf-8',
    })
    expect(entries[6]).toMatchObject({
      mode: 'drwxr-xr-x',
      mode_bits: '755',
      directory: true,
      file: false,
      mime: 'inode/directory',
    })
    expect(entries[2]).toMatchObject({ mode: 'Lrwxrwxrwx', file: true, directory: false, symlink: false })
    expect(entries.map(({ mime }) => mime).slice(0, 5)).toEqual([
      'application/json',
      'image/png',
      'application/octet-stream',
      'text/plain; charset=utf-8',
      'application/octet-stream',
    ])
    expect(await list('/plugins')).toEqual([])
  })

  it('rename: ignore a missing source, never replace an existing file', async () => {
    await write('a/b.txt', 'b')
    await write('c.txt', 'c')
    await symlink('nowhere', join(folder, 'dangling'))
    expect(await statusOf('PUT', 'rename', { root: '/', files: [] })).toBe(422)
    expect(await rename('missing', 'x/y')).toBe(204)
    expect(await rename('no/parent', 'x')).toBe(204)
    expect(await rename('c.txt', './c.txt')).toBe(204)
    for (const target of ['c.txt', 'a', 'dangling']) expect(await rename('a/b.txt', target)).toBe(400)
    expect(await rename('a', 'a/b/c')).toBe(500)
    expect(await rename('a', 'c.txt/a')).toBe(500)
    expect(await rename('/', 'root')).toBe(500)
    expect(await rename('a', '/')).toBe(500)
    expect(await rename('c.txt', 'n'.repeat(256))).toBe(400)
    expect(await onDisk('c.txt')).toBe('c')
    expect(await rename('b.txt', '../.trash/7/b.txt', 'a')).toBe(204)
    expect(await rename('dangling', 'moved')).toBe(204)
    expect(await onDisk('.trash/7/b.txt')).toBe('b')
    expect(await readlink(join(folder, 'moved'))).toBe('nowhere')
    expect((await readdir(folder)).toSorted()).toEqual(['.trash', 'a', 'c.txt', 'moved'])
  })

  it('rename the others when one of them is refused', async () => {
    for (const name of ['a', 'b', 'c', 'taken']) await write(name, name)
    const files = ['a', 'b', 'c'].map((name) => ({
      from: name,
      to: name === 'b' ? 'taken' : `moved/${name}`,
    }))
    expect(await statusOf('PUT', 'rename', { root: '/', files })).toBe(400)
    expect((await readdir(folder)).toSorted()).toEqual(['b', 'moved', 'taken'])
    expect((await readdir(join(folder, 'moved'))).toSorted()).toEqual(['a', 'c'])
    expect(await onDisk('taken')).toBe('taken')
  })

  it('copy beside the original under a free name', async () => {
    await write('d/x.txt', 'x')
    await write('d/x.tar.gz', 'tar')
    await write('d/plain', 'p')
    await chmod('d/plain', '700')
    for (const name of ['x.txt', 'x.txt', 'x.txt', 'x.tar.gz', 'plain']) {
      expect(await statusOf('POST', 'copy', { location: `/d/${name}` })).toBe(204)
    }
    expect((await readdir(join(folder, 'd'))).toSorted()).toEqual([
      'plain',
      'plain copy',
      'x copy 1.txt',
      'x copy 2.txt',
      'x copy.tar.gz',
      'x copy.txt',
      'x.tar.gz',
      'x.txt',
    ])
    expect(await onDisk('d/x copy 2.txt')).toBe('x')
    expect((await lstat(join(folder, 'd/plain copy'))).mode & 0o777).toBe(0o700)
    expect(await statusOf('POST', 'copy', { location: '/d' })).toBe(500)
    expect(await statusOf('POST', 'copy', { location: '/missing' })).toBe(500)
    expect(await statusOf('POST', 'copy', { location: 5 })).toBe(400)
  })

  it('copy for many at once without losing a copy', async () => {
    await write('x', 'x')
    const copies = Array.from({ length: 12 }, () => statusOf('POST', 'copy', { location: 'x' }))
    expect(new Set(await Promise.all(copies))).toEqual(new Set([204]))
    expect(await readdir(folder)).toHaveLength(13)
  })

  it('delete files, folders and links, but not the root', async () => {
    await write('dir/a/b', 'b')
    await write('c', 'c')
    await symlink('dir', join(folder, 'link'))
    expect(await remove()).toBe(422)
    expect(await remove('/')).toBe(500)
    expect(await remove('dir/..')).toBe(500)
    expect(await remove('missing', 'no/parent')).toBe(204)
    expect(await remove('link', 'c')).toBe(204)
    expect(await readdir(folder)).toEqual(['dir'])
    expect(await statusOf('POST', 'delete', { root: 'dir', files: ['a'] })).toBe(204)
    expect(await readdir(join(folder, 'dir'))).toEqual([])
  })

  it('change modes that are octal strings', async () => {
    await write('a', 'a')
    expect(await statusOf('POST', 'chmod', { root: '/', files: [] })).toBe(422)
    expect(await chmod('a', 755)).toBe(400)
    for (const mode of ['', '8', 'rwx', '-1']) expect(await chmod('a', mode)).toBe(400)
    expect(await chmod('missing', '600')).toBe(204)
    expect(await chmod('a', '0600')).toBe(204)
    expect((await list('/'))[0]).toMatchObject({ mode: '-rw-------', mode_bits: '600' })
  })

  it('create folders that may exist', async () => {
    expect(await statusOf('POST', 'create-directory', { name: 'b/c', path: '/a' })).toBe(204)
    expect(await statusOf('POST', 'create-directory', { name: 'c', path: 'a/b' })).toBe(204)
    await write('file', 'x')
    expect(await statusOf('POST', 'create-directory', { name: 'file', path: '/' })).toBe(500)
    expect(await statusOf('POST', 'create-directory', { name: 'below', path: '/file' })).toBe(500)
    expect(await readdir(join(folder, 'a/b'))).toEqual(['c'])
  })

  it('refuse a body that is not JSON', async () => {
    for (const route of ['copy', 'delete', 'chmod', 'compress', 'decompress', 'pull', 'create-directory']) {
      for (const body of ['', '[]', '{"root":5,"files":["a"],"location":5,"path":5,"url":5}']) {
        expect([route, body, await statusOf('POST', route, body)]).toEqual([route, body, 400])
      }
    }
    expect(await statusOf('PUT', 'rename', '{"files":"a"}')).toBe(400)
    expect(await statusOf('PUT', 'rename', '{"files":[5]}')).toBe(400)
  })
})
