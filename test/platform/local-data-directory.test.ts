import { chmod, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openDataDirectory } from '../../src/platform/local/data-directory.ts'
import { useLogLines } from '../support/log-lines.ts'

const logged = useLogLines()
let parent: string
let path: string
beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'roost-data-'))
  path = join(parent, 'deep', 'data')
})
afterEach(() => rm(parent, { recursive: true, force: true }))

const modeOf = async (name: string) => ((await stat(join(path, name))).mode & 0o7777).toString(8)
const open = async () => (await openDataDirectory(path)).release()

describe.skipIf(process.platform === 'win32')('DATA_DIR', () => {
  it('is made with mode 0700, and its secrets with 0600', async () => {
    const { release } = await openDataDirectory(path)
    expect(await Promise.all(['..', '.', 'secrets.json', 'lock'].map(modeOf))).toEqual([
      '700',
      '700',
      '600',
      '600',
    ])
    await release()
    expect(logged.lines()).toEqual([])
  })

  it('is tightened to 0700, and the files in it that hold secrets to 0600', async () => {
    await open()
    await mkdir(join(path, 'outbox'))
    for (const name of ['bootstrap.json', 'outbox/mail.json', 'other.txt']) {
      await writeFile(join(path, name), '{}')
      await chmod(join(path, name), 0o644)
    }
    await chmod(join(path, 'secrets.json'), 0o664)
    await chmod(join(path, 'outbox'), 0o755)
    await chmod(path, 0o755)
    await open()
    const names = ['.', 'secrets.json', 'bootstrap.json', 'outbox', 'outbox/mail.json']
    expect(await Promise.all(names.map(modeOf))).toEqual(['700', '600', '600', '700', '600'])
    expect(await modeOf('other.txt')).toBe('644')
    expect(logged.lines().map(({ level, key }) => [level, key])).toEqual([
      ['warn', 'data'],
      ['warn', 'secrets.json'],
      ['warn', 'bootstrap.json'],
      ['warn', 'outbox'],
      ['warn', 'mail.json'],
    ])
  })

  it('is refused with a message where all accounts share it', async () => {
    await mkdir(path, { recursive: true })
    await chmod(path, 0o1777)
    await expect(openDataDirectory(path)).rejects.toThrow(`DATA_DIR ${path} is shared by all accounts.`)
    expect([await modeOf('.'), await readdir(path)]).toEqual(['1777', []])
  })

  it.each(['/proc/nowhere', '/proc/nowhere/data'])(
    'is refused with a message where it cannot be created: %s',
    async (impossible) => {
      await expect(openDataDirectory(impossible)).rejects.toThrow(
        `DATA_DIR ${impossible} cannot be created (ENOENT).`,
      )
    },
  )

  it('is refused with a message where it is a file', async () => {
    await mkdir(join(parent, 'deep'))
    await writeFile(path, '')
    await expect(openDataDirectory(path)).rejects.toThrow(`DATA_DIR ${path} is not a folder.`)
  })

  it.skipIf(process.platform !== 'linux')(
    'is refused with a message where its mode cannot be changed',
    async () => {
      // A folder of the kernel, of which the mode is fixed for every account.
      await expect(openDataDirectory('/proc/sys')).rejects.toThrow(
        '/proc/sys can be read by other accounts, and its mode cannot be changed to 700',
      )
    },
  )
})
