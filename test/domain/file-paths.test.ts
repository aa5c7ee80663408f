import { describe, expect, it } from 'vitest'
import {
  isBelow,
  isTrashName,
  relativeName,
  resolveEntry,
  resolveMember,
  resolvePath,
  displayDirectory,
  splitPath,
} from '../../src/domain/files/paths.ts'
import { ApiError } from '../../src/errors.ts'

/** Returns the path, or status and rule of the refusal. */
function outcomeOf(work: () => string): string {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return [error.status, error.entries[0]?.meta?.rule].filter(Boolean).join(' ')
  }
}
const resolved = (root: string, path?: string) => outcomeOf(() => resolvePath('file', root, path))

describe('a path', () => {
  it.each([
    ['', '/'],
    ['/', '/'],
    ['.', '/'],
    ['//', '/'],
    ['a', '/a'],
    ['/a/', '/a'],
    ['a//b', '/a/b'],
    ['./a/./b/.', '/a/b'],
    ['a/../b', '/b'],
    ['a/b/../../c', '/c'],
    ['a/..', '/'],
    ['...', '/...'],
    ['..a/b..', '/..a/b..'],
    [' a / b ', '/ a / b '],
    ['a.', '/a.'],
    ['a\\b', '/a\\b'],
    ['..\\..\\a', '/..\\..\\a'],
    ['%2e%2e/a', '/%2e%2e/a'],
    ['%2e%2e%2fa', '/%2e%2e%2fa'],
    ['．．/a', '/．．/a'],
    ['日本/🎮', '/日本/🎮'],
    ['~/$HOME', '/~/$HOME'],
    ['C:/x', '/C:/x'],
    [`/${'x'.repeat(255)}`, `/${'x'.repeat(255)}`],
  ])('%j is %j', (path, expected) => {
    expect(resolved('/', path)).toBe(expected)
  })

  it.each([
    ['..', '422 p_path'],
    ['/..', '422 p_path'],
    ['/../x', '422 p_path'],
    ['../..', '422 p_path'],
    ['a/../../x', '422 p_path'],
    ['a/../../a', '422 p_path'],
    ['a\0', '422 regex'],
    ['a\r\nb', '422 regex'],
    ['a\tb', '422 regex'],
    ['a\u007f', '422 regex'],
    ['a\u0085', '422 regex'],
    ['x'.repeat(256), '422 max'],
    [`${'x'.repeat(300)}/..`, '422 max'],
    ['ä'.repeat(128), '422 max'],
    ['🎮'.repeat(64), '422 max'],
    ['a/'.repeat(2100), '422 max'],
    ['/'.repeat(5000), '422 max'],
  ])('%j is refused', (path, refusal) => {
    expect(resolved('/', path)).toBe(refusal)
  })

  it('goes on where its root ends, and may go up as far as the server', () => {
    expect(resolved('/a', 'b')).toBe('/a/b')
    expect(resolved('a/b', '/c')).toBe('/a/b/c')
    expect(resolved('/a', '../b')).toBe('/b')
    expect(resolved('/a', '..')).toBe('/')
    expect(resolved('/a', '../../b')).toBe('422 p_path')
    expect(resolved('/a/..', '../b')).toBe('422 p_path')
    expect(resolved('/a')).toBe('/a')
  })
})

describe('the trash', () => {
  const spellings = [
    '.roost-trash',
    '.ROOST-TRASH',
    '.Roost-Trash',
    '.roost-trash.',
    '.roost-trash...',
    '.roost-trash . ',
    ' .roost-trash ',
    '\u00a0.roost-trash',
    '.roost\u200b-trash',
    '.roost-trash\ufeff',
    '.roost-trash\ufe0f',
    '.roost\u3164-trash',
    '．ｒｏｏｓｔ－ｔｒａｓｈ',
    '\u2024roost-trash',
    '.roo\u017ft-trash',
    '.roost\u2010trash',
    '.roost\u2011trash',
    '.roost\ufe63trash',
    '.r\u0301oost-trash',
    '%2eroost-trash',
    '%2Eroost%2Dtrash',
    '%252eroost-trash',
    '%25252eroost-trash',
    '.roost-trash%2e',
    '.roost-trash%20',
    '.roost-trash%00',
    '.roost-trash%2fx',
    '.roost-trash%5cx',
    '%EF%BC%8Eroost-trash',
    'x%2f..%2f.roost-trash',
    '%2eroost-trash%2f%ff',
    '.roost-trash\\x',
    '..\\.roost-trash',
  ]
  it.each(spellings)('is meant by %j', (name) => {
    expect(isTrashName(name)).toBe(true)
    const places = [name, `/${name}`, `./${name}/`, `a/../${name}`, `${name}/x/y`, `a/${name}`]
    for (const path of places) expect(resolved('/', path), path).toBe('403')
    expect(resolved(name, 'x')).toBe('403')
    expect(resolved(`a/${name}`, '')).toBe('403')
  })

  it.each([
    'roost-trash',
    '.roost-trash2',
    '.roost_trash',
    '.roosttrash',
    'x.roost-trash',
    '..roost-trash',
    '.roost-trash.d',
    '.trash',
    '%',
    '%zz',
    '%ff',
    '',
  ])('is not meant by %j', (name) => {
    expect(isTrashName(name)).toBe(false)
  })

  it('may be on the way to somewhere else, since only what is left is told to a daemon', () => {
    expect(resolved('/', '.roost-trash/../a')).toBe('/a')
  })
})

describe('what is acted on', () => {
  const entry = (root: string, path: string) => outcomeOf(() => resolveEntry('file', root, path))
  const member = (root: string, path: string) => outcomeOf(() => resolveMember('file', root, path))

  it('is never the root', () => {
    for (const path of ['', '/', '.', './', '//', 'a/..', '/.']) expect(entry('/', path)).toBe('422 required')
    expect(entry('/a', '..')).toBe('422 required')
    expect(entry('/a', '')).toBe('422 required')
    expect(entry('/a', '../b')).toBe('/b')
  })

  it('lies in its folder when it is a member of a list', () => {
    expect(member('/a', 'b/c')).toBe('/a/b/c')
    expect(member('/', 'a')).toBe('/a')
    for (const path of ['.', '../a', '..//a/.', '../b', '../ab', 'b/..', 'b/../../c']) {
      expect(member('/a', path), path).toBe('422 p_path')
    }
    expect(member('/a', '')).toBe('422 required')
  })
})

it('paths are compared by whole names', () => {
  expect(isBelow('/a', '/a/b')).toBe(true)
  expect(isBelow('/a', '/ab')).toBe(false)
  expect(isBelow('/a', '/a')).toBe(false)
  expect(isBelow('/', '/a')).toBe(true)
  expect(isBelow('/', '/')).toBe(false)
  expect(relativeName('/', '/a/b')).toBe('a/b')
  expect(relativeName('/a', '/a/b')).toBe('b')
  expect(relativeName('/a', '/b')).toBe('/b')
  expect(splitPath('/a')).toEqual({ directory: '/', name: 'a' })
  expect(splitPath('/a/b/c')).toEqual({ directory: '/a/b', name: 'c' })
  expect(displayDirectory('/')).toBe('/')
  expect(displayDirectory('/a')).toBe('/a/')
})
