import { describe, expect, it } from 'vitest'
import { isArchiveName, previewOf } from '../../src/web/server/files/entries.ts'

describe('how a file is shown', () => {
  it.each([
    ['server-icon.PNG', 'image'],
    ['plugin.jar', 'zip'],
    ['world.zip', 'zip'],
    ['archive-2026.tar.gz', 'tar'],
    ['backup.tgz', 'tar'],
    ['2026-11-26-1.log.gz', 'gzip'],
    ['server.properties', null],
    ['icon.svg', null],
    ['mods.7z', null],
    ['png', null],
  ])('follows its name: %s', (name, kind) => {
    expect(previewOf(name)).toBe(kind)
  })

  it('knows the archives that nodes unpack', () => {
    for (const name of ['a.zip', 'a.tar.xz', 'a.rar', 'a.7z', 'a.gz'])
      expect(isArchiveName(name), name).toBe(true)
    for (const name of ['a.jar', 'zip', 'a.zip.txt']) expect(isArchiveName(name), name).toBe(false)
  })
})
