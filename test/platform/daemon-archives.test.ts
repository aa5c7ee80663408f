import { randomBytes } from 'node:crypto'
import { lstat, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { tarOf, zipOf } from '../support/archives.ts'
import { type DaemonWithServer, startDaemonWithServer } from '../support/daemon-server.ts'
import { nodeSecret } from '../support/development-daemon.ts'

let at: DaemonWithServer
let folder: string

beforeEach(async () => {
  at = await startDaemonWithServer({}, ['*.key'])
  folder = at.folder
})

afterEach(() => at.close())

const compress = (files: string[], root = '/') => at.call('POST', 'compress', { root, files })
const decompress = async (file: string, root = '/') =>
  (await at.call('POST', 'decompress', { root, file })).status
const paths = async () => (await readdir(folder, { recursive: true })).toSorted()
const onDisk = (path: string) => readFile(join(folder, path), 'utf8')
const put = (path: string, content: string | Buffer) => writeFile(join(folder, path), content)

describe('compress', () => {
  it('creates a tar.gz beside the files, which unpacks to them again', async () => {
    const bytes = randomBytes(2_000_000)
    await mkdir(join(folder, 'world/region'), { recursive: true })
    await put('world/region/r.mca', bytes)
    await put('world/Überblick 世界.txt', 'names')
    await put('@scope', 'at')
    await put('left out', 'x')
    await writeFile(join(folder, 'world/start.sh'), 'echo', { mode: 0o755 })
    await symlink('/etc/passwd', join(folder, 'world/link'))
    const answer = await compress(['world', '@scope'])
    expect(answer.status).toBe(200)
    const archive = (await answer.json()) as Record<string, unknown>
    expect(archive).toMatchObject({
      name: expect.stringMatching(/^archive-\d{4}-\d\d-\d\dT\d{6}(Z|[+-]\d{4})\.tar\.gz$/),
      mode: '-rw-r--r--',
      file: true,
      size: (await lstat(join(folder, String(archive['name'])))).size,
      mime: 'application/tar+gzip',
    })
    await mkdir(join(folder, 'out'))
    await put('out/copy', await readFile(join(folder, String(archive['name']))))
    expect(await decompress('copy', 'out')).toBe(204)
    const unpacked = (await readdir(join(folder, 'out'), { recursive: true })).toSorted()
    expect(unpacked).toEqual([
      '@scope',
      'copy',
      'world',
      'world/region',
      'world/region/r.mca',
      'world/start.sh',
      'world/Überblick 世界.txt',
    ])
    expect((await readFile(join(folder, 'out/world/region/r.mca'))).equals(bytes)).toBe(true)
    expect((await lstat(join(folder, 'out/world/start.sh'))).mode & 0o777).toBe(0o755)
  })

  it('packs a whole folder, without the archive itself', async () => {
    await put('a', 'a')
    expect((await compress(['.'])).status).toBe(200)
    const [archive = ''] = (await readdir(folder)).filter((name) => name.endsWith('.tar.gz'))
    const content = gunzipSync(await readFile(join(folder, archive))).toString('latin1')
    expect(content).toContain('./a\0')
    expect(content).not.toContain(archive)
  })

  it('requires files, and leaves nothing behind when one is missing', async () => {
    await put('a', 'a')
    expect((await compress([])).status).toBe(422)
    expect((await compress(['a', 'missing'])).status).toBe(404)
    expect((await compress(['a'], 'missing')).status).toBe(404)
    expect(await paths()).toEqual(['a'])
    expect(await at.spooled()).toEqual([])
  })

  it('does not leave its folder', async () => {
    await put('outside', 'x')
    await mkdir(join(folder, 'in'))
    expect((await compress(['../outside'], 'in')).status).toBe(404)
  })

  it('goes on when the client disconnects', async () => {
    await put('big', randomBytes(30_000_000))
    await fetch(`${at.daemon.url}/api/servers/${at.uuid}/files/compress`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${nodeSecret}` },
      body: JSON.stringify({ root: '/', files: ['big'] }),
      signal: AbortSignal.timeout(50),
    }).catch(() => undefined)
    await expect.poll(paths, { timeout: 20_000 }).toHaveLength(2)
  })
})

describe('decompress', () => {
  const tar = tarOf([
    { path: 'dir/' },
    { path: 'dir/a.txt', content: 'from the archive' },
    { path: './dir/run.sh', content: 'echo', mode: 0o755 },
    { path: 'dir/server.key', content: 'denied' },
    { path: 'dir/link', linkTo: '/etc/passwd' },
    { path: 'Überblick 世界', content: 'names' },
  ])
  const zip = zipOf(
    [
      { name: 'dir/' },
      { name: 'dir/a.txt', content: 'from the archive', stored: true },
      { name: 'dir/run.sh', content: 'echo', mode: 0o100755 },
      { name: 'dir/server.key', content: 'denied' },
      { name: 'dir/link', content: '/etc/passwd', mode: 0o120777 },
      { name: 'Überblick 世界', content: 'names' },
    ],
    'a comment',
  )

  it.each([
    ['tar', tar],
    ['tar.gz', gzipSync(tar)],
    ['zip', zip],
  ])('unpacks a %s over existing files, without denied names and links', async (_format, archive) => {
    await mkdir(join(folder, 'to/dir'), { recursive: true })
    await put('to/dir/a.txt', 'before')
    await put('to/dir/kept', 'kept')
    await put('to/archive', archive)
    expect(await decompress('archive', '/to')).toBe(204)
    expect(await paths()).toEqual([
      'to',
      'to/archive',
      'to/dir',
      'to/dir/a.txt',
      'to/dir/kept',
      'to/dir/run.sh',
      'to/Überblick 世界',
    ])
    expect(await onDisk('to/dir/a.txt')).toBe('from the archive')
    expect(await onDisk('to/Überblick 世界')).toBe('names')
    const script = await lstat(join(folder, 'to/dir/run.sh'))
    expect(script.mode & 0o777).toBe(0o755)
    expect(script.mtime.toISOString().slice(0, 10)).toBe('2024-03-15')
  })

  it('unpacks empty archives', async () => {
    await put('archive', zipOf([]))
    expect(await decompress('archive')).toBe(204)
    expect(await paths()).toEqual(['archive'])
  })

  it('unpacks large members of every kind', async () => {
    const content = Buffer.concat([randomBytes(3_000_000), Buffer.alloc(20_000_000)])
    await put('a.zip', zipOf([{ name: 'z', content }, { name: 'empty' }]))
    expect(await decompress('a.zip')).toBe(204)
    expect((await readFile(join(folder, 'z'))).equals(content)).toBe(true)
    expect(await onDisk('empty')).toBe('')
    await compress(['z'])
    const [archive = ''] = (await readdir(folder)).filter((name) => name.endsWith('.tar.gz'))
    await put('z', 'changed')
    expect(await decompress(archive)).toBe(204)
    expect((await readFile(join(folder, 'z'))).equals(content)).toBe(true)
  })

  it.each(['../evil', '/evil', 'a/../../evil', '..\\evil', 'a/\0'])(
    'writes nothing of an archive that holds the name %j',
    async (name) => {
      const archives = [
        zipOf([
          { name: 'good', content: 'x' },
          { name, content: 'x' },
        ]),
      ]
      if (!name.includes('\0')) {
        const members = [
          { path: 'good', content: 'x' },
          { path: name, content: 'x' },
        ]
        archives.push(tarOf(members), gzipSync(tarOf(members)))
      }
      for (const archive of archives) {
        await put('archive', archive)
        expect(await decompress('archive')).toBe(400)
        expect(await paths()).toEqual(['archive'])
      }
      expect((await readdir(at.daemon.dataDirectory)).filter((entry) => entry === 'evil')).toEqual([])
    },
  )

  it('does not write through a link that leads out', async () => {
    const secret = join(at.daemon.dataDirectory, 'secret')
    await mkdir(secret)
    await symlink(secret, join(folder, 'link'))
    for (const archive of [
      tarOf([{ path: 'link/x', content: 'x' }]),
      zipOf([{ name: 'link/x', content: 'x' }]),
    ]) {
      await put('archive', archive)
      expect(await decompress('archive')).toBe(500)
    }
    expect(await readdir(secret)).toEqual([])
  })

  it.each([
    ['text', Buffer.from('no archive at all')],
    ['nothing', Buffer.alloc(0)],
    ['zeros', Buffer.alloc(2_000)],
    ['a gzip of something else', gzipSync('text')],
    ['a zip without its end', zip.subarray(0, zip.length - 40)],
    ['an encrypted zip', zipOf([{ name: 'a', content: 'x', flags: 1 }])],
  ])('refuses %s with 400', async (_name, content) => {
    await put('archive', content)
    expect(await decompress('archive')).toBe(400)
    expect(await paths()).toEqual(['archive'])
  })

  it('does not write a damaged file', async () => {
    const damagedZip = zipOf([{ name: 'a', content: 'some text', stored: true }])
    damagedZip.write('X', 31)
    await put('archive', damagedZip)
    expect(await decompress('archive')).toBe(400)
    const packed = gzipSync(tarOf([{ path: 'a', content: randomBytes(50_000).toString('hex') }]))
    await put('archive', packed.subarray(0, packed.length - 5_000))
    expect(await decompress('archive')).toBe(500)
    await put('archive', tar.subarray(0, 1_030))
    expect(await decompress('archive')).toBe(500)
    expect(await paths()).toEqual(['archive'])
    expect(await at.spooled()).toEqual([])
  })

  it('answers 400 when a folder has the name of a file, and 500 for the reverse', async () => {
    await mkdir(join(folder, 'name'))
    await put('archive', tarOf([{ path: 'name', content: 'x' }]))
    expect(await decompress('archive')).toBe(400)
    await put('archive', tarOf([{ path: 'archive/below', content: 'x' }]))
    expect(await decompress('archive')).toBe(500)
    expect(await decompress('name')).toBe(500)
  })

  it('goes on when the client disconnects', async () => {
    await put(
      'a.zip',
      zipOf([
        { name: 'first', content: Buffer.alloc(60_000_000) },
        { name: 'last', content: 'x' },
      ]),
    )
    await fetch(`${at.daemon.url}/api/servers/${at.uuid}/files/decompress`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${nodeSecret}` },
      body: JSON.stringify({ root: '/', file: 'a.zip' }),
      signal: AbortSignal.timeout(50),
    }).catch(() => undefined)
    await expect.poll(paths, { timeout: 20_000 }).toEqual(['a.zip', 'first', 'last'])
  })
})
