import { describe, expect, it } from 'vitest'
import { RequestError } from '../../src/web/api/error.ts'
import type { FileEntry, Folder } from '../../src/web/api/files.ts'
import {
  searchFolders,
  searchLimits,
  type SearchProgress,
} from '../../src/web/server/files/search-folders.ts'

const entry = (name: string, mode = '-rw-r--r--'): FileEntry =>
  ({ name, mode, is_file: !mode.startsWith('d'), is_symlink: mode.startsWith('l') }) as FileEntry
const folder = (name: string) => entry(name, 'drwxr-xr-x')
const listing = (...entries: FileEntry[]): Folder => ({ entries, isTruncated: false })

type List = (path: string) => Folder | Promise<Folder>

/** Searches and returns the last progress, with the paths that were listed. */
async function search(text: string, list: List, abort = new AbortController()) {
  const listed: string[] = []
  const all: SearchProgress[] = []
  await searchFolders({
    directory: '/',
    text,
    signal: abort.signal,
    list: async (path) => {
      listed.push(path)
      return list(path)
    },
    onProgress: (progress) => all.push(progress),
  })
  const last = all.at(-1)
  return {
    listed,
    all,
    end: last?.end,
    unreadable: last?.unreadable,
    found: last?.found.map(({ directory, entry: { name } }) => `${directory} ${name}`),
  }
}

describe('searching names below a folder', () => {
  const tree: Record<string, Folder> = {
    '/': listing(folder('plugins'), folder('world'), entry('Config.yml'), entry('link', 'lrwxrwxrwx')),
    '/plugins': listing(folder('config'), entry('a.jar')),
    '/world': listing(entry('level.dat')),
    '/plugins/config': listing(entry('my-config.yml')),
  }
  const list = (path: string) => tree[path] ?? listing()

  it('finds files and folders, nearest first, and does not follow links', async () => {
    const { found, listed, end } = await search('config', list)
    expect(found).toEqual(['/ Config.yml', '/plugins config', '/plugins/config my-config.yml'])
    expect(listed).toEqual(['/', '/plugins', '/world', '/plugins/config'])
    expect(end).toBe('complete')
  })

  it('reports what it has found meanwhile', async () => {
    const { all } = await search('config', list)
    expect(all.map(({ folders, found }) => [folders, found.length])).toEqual([
      [1, 1],
      [2, 2],
      [3, 2],
      [4, 3],
      [4, 3],
    ])
  })

  it('goes on after a folder that cannot be read, and says so', async () => {
    const { found, unreadable } = await search('level', (path) => {
      if (path === '/plugins') throw new Error('unreadable')
      return list(path)
    })
    expect(found).toEqual(['/world level.dat'])
    expect(unreadable).toBe(1)
  })

  it('waits when there are too many requests', async () => {
    let refusals = 2
    const { found, unreadable, listed } = await search('level', (path) => {
      if (path === '/world' && refusals > 0) {
        refusals -= 1
        throw new RequestError(429, [], null, 0.001)
      }
      return list(path)
    })
    expect(found).toEqual(['/world level.dat'])
    expect(unreadable).toBe(0)
    expect(listed.filter((path) => path === '/world')).toHaveLength(3)
  })

  it('ends at its limits', async () => {
    const endless = await search('nothing', (path) => listing(folder('a'), folder('b'), entry(path)))
    expect(endless.listed).toHaveLength(searchLimits.maxFolders)
    expect(endless.end).toBe('limited')
    const many = await search('x', () => listing(...Array.from({ length: 300 }, (_, at) => entry(`x${at}`))))
    expect(many.found).toHaveLength(searchLimits.maxFound)
    expect(many.end).toBe('limited')
  })

  it('stops when it is told to', async () => {
    const abort = new AbortController()
    const { listed, end } = await search(
      'level',
      (path) => {
        if (path === '/plugins') abort.abort()
        return list(path)
      },
      abort,
    )
    expect(listed).toEqual(['/', '/plugins'])
    expect(end).toBe('stopped')
  })
})
