import { execFileSync } from 'node:child_process'
import { lstat, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Profile } from '../../src/dev/daemon/daemon.ts'
import { type DaemonWithServer, fileRoutesOf, startDaemonWithServer } from '../support/daemon-server.ts'

let at: DaemonWithServer
let folder: string

async function start(profile: Profile = '1.11', denylist: string[] = []): Promise<void> {
  at = await startDaemonWithServer({ profile }, denylist)
  folder = at.folder
}

afterEach(() => at.close())

const { statusOf, write, read, list, rename, remove, chmod, onDisk } = fileRoutesOf(() => at)

describe('paths and links', () => {
  beforeEach(() => start())

  it('end at the root of the server', async () => {
    expect(await write('../../../etc/x', 'kept in')).toBe(204)
    expect(await onDisk('etc/x')).toBe('kept in')
    expect(await (await read('/a/../../../etc/x')).text()).toBe('kept in')
    expect(await rename('../etc/x', '../../y')).toBe(204)
    expect(await onDisk('y')).toBe('kept in')
    expect(await write('a\0b', 'x')).toBe(500)
  })

  it('lead nowhere outside', async () => {
    const secret = join(at.daemon.dataDirectory, 'secret')
    await mkdir(secret)
    await writeFile(join(secret, 'key'), 'secret')
    await mkdir(join(folder, 'in/side'), { recursive: true })
    await symlink(secret, join(folder, 'absolute'))
    await symlink('../../secret', join(folder, 'relative'))
    await symlink('../../../secret/key', join(folder, 'in/file'))
    for (const link of ['absolute', 'relative']) {
      await mkdir(join(secret, 'below'), { recursive: true })
      for (const path of [`${link}/key`, `${link}/below/key`]) {
        expect((await read(path)).status).toBe(500)
        expect(await write(path, 'x')).toBe(500)
        expect(await rename('in/side', path)).toBe(500)
        expect(await rename(path, 'stolen')).toBe(500)
        expect(await statusOf('POST', 'copy', { location: path })).toBe(500)
        expect(await remove(path)).toBe(500)
        expect(await chmod(path, '777')).toBe(500)
        expect(await statusOf('POST', 'create-directory', { name: 'x', path })).toBe(500)
        expect(await statusOf('POST', 'compress', { root: '/', files: [path] })).toBe(500)
      }
      expect(await statusOf('GET', `list-directory?directory=${link}`)).toBe(500)
      expect(await statusOf('GET', `list-directory?directory=${link}/below`)).toBe(500)
    }
    for (const path of ['in/file', 'absolute']) {
      expect((await read(path)).status).toBe(500)
      expect(await write(path, 'x')).toBe(500)
      expect(await chmod(path, '777')).toBe(500)
      expect(await statusOf('POST', 'copy', { location: path })).toBe(500)
    }
    expect(await readFile(join(secret, 'key'), 'utf8')).toBe('secret')
    expect((await readdir(secret)).toSorted()).toEqual(['below', 'key'])
    expect((await lstat(join(secret, 'key'))).mode & 0o777).toBe(0o644)
  })

  it('follow links beneath the root, except for the folder of the file itself', async () => {
    await write('real/deep/a', 'a')
    await symlink('./real/../real', join(folder, 'link'))
    expect((await read('link/deep/a')).status).toBe(200)
    expect((await read('link/deep')).status).toBe(500)
    expect(await statusOf('GET', 'list-directory?directory=link')).toBe(500)
    await symlink('loop', join(folder, 'loop'))
    expect((await read('loop/a/b')).status).toBe(500)
  })

  it('do not open a pipe', async () => {
    execFileSync('mkfifo', [join(folder, 'pipe')])
    expect((await read('pipe')).status).toBe(400)
    expect((await list('/'))[0]).toMatchObject({ mode: expect.stringMatching(/^prw/), file: true })
  })
})

describe('releases differ', () => {
  it('1.11 answers 500 for a missing file, and closes the connection for a folder', async () => {
    await start('1.11')
    await mkdir(join(folder, 'dir'))
    expect((await read('missing')).status).toBe(500)
    expect(await statusOf('GET', 'list-directory?directory=missing')).toBe(500)
    expect(await statusOf('POST', 'decompress', { root: '/', file: 'missing' })).toBe(500)
    const answer = await read('dir')
    expect(answer.status).toBe(200)
    expect(answer.headers.get('Content-Length')).toBe('4096')
    expect(answer.headers.get('X-Request-Id')).toBeTruthy()
    await expect(answer.text()).rejects.toThrow()
  })

  it.each(['1.12', '1.13', 'pelican'] as const)('%s answers 404, and 400 for a folder', async (profile) => {
    await start(profile)
    await mkdir(join(folder, 'dir'))
    await write('file', 'x')
    await symlink('file', join(folder, 'link'))
    expect((await read('missing')).status).toBe(404)
    expect((await read('dir')).status).toBe(400)
    expect((await read('link')).status).toBe(500)
    expect(await statusOf('GET', 'list-directory?directory=missing')).toBe(404)
    expect(await statusOf('GET', 'list-directory?directory=file')).toBe(500)
    expect(await statusOf('POST', 'copy', { location: 'missing' })).toBe(404)
    expect(await statusOf('POST', 'decompress', { root: '/', file: 'missing' })).toBe(404)
    expect(await statusOf('POST', 'create-directory', { name: 'file', path: '/' })).toBe(400)
    expect(await statusOf('POST', 'create-directory', { name: 'below', path: '/file' })).toBe(400)
    expect(await rename('missing', 'x')).toBe(204)
    expect(await remove('missing')).toBe(profile === 'pelican' ? 404 : 204)
    expect((await list('/')).find(({ name }) => name === 'link')).toMatchObject({ symlink: true, file: true })
  })
})

describe('the denylist', () => {
  const lines = ['*.key', '/config/', '!public.key']

  it('protects matching paths from rename, copy and write only', async () => {
    await start('1.13', lines)
    await mkdir(join(folder, 'config'))
    await writeFile(join(folder, 'config/a'), 'a')
    await writeFile(join(folder, 'my.key'), 'k')
    await writeFile(join(folder, 'b'), 'b')
    expect(await write('deep/er/my.key', 'x')).toBe(403)
    expect(await write('./x/../my.key', 'x')).toBe(403)
    expect(await write('config/b', 'x')).toBe(403)
    expect(await write('public.key', 'x')).toBe(204)
    expect(await write('MY.KEY', 'x')).toBe(204)
    expect(await rename('my.key', 'c')).toBe(403)
    expect(await rename('b', 'b.key')).toBe(403)
    expect(await statusOf('POST', 'copy', { location: 'config/a' })).toBe(403)
    expect(await (await read('my.key')).text()).toBe('k')
    expect(await chmod('my.key', '600')).toBe(204)
    expect(await statusOf('POST', 'create-directory', { name: 'x.key', path: '/' })).toBe(204)
    expect(await remove('my.key')).toBe(204)
    expect((await readdir(folder)).toSorted()).toEqual(['MY.KEY', 'b', 'config', 'public.key', 'x.key'])
  })

  it('covers reading and deleting on pelican', async () => {
    await start('pelican', lines)
    await writeFile(join(folder, 'my.key'), 'k')
    expect((await read('my.key')).status).toBe(403)
    expect(await remove('my.key')).toBe(204)
    expect(await readdir(folder)).toEqual(['my.key'])
  })
})
