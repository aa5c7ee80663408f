import { describe, expect, it } from 'vitest'
import { isArchiveKey } from '../../src/domain/backups/archives.ts'
import { choosePartSize } from '../../src/domain/backups/uploads.ts'

const mebibyte = 1024 ** 2
const tebibyte = 1024 ** 4

describe('the size of parts', () => {
  it('is the configured one while 5,000 of them are enough, then as many whole MiB as make them enough', () => {
    for (const configured of [5, 512, 5120]) {
      for (const size of [1, mebibyte, 5000 * configured * mebibyte]) {
        expect(choosePartSize(size, configured)).toBe(configured * mebibyte)
      }
      expect(choosePartSize(5000 * configured * mebibyte + 1, configured)).toBe((configured + 1) * mebibyte)
    }
  })

  it('makes no more than 5,000 parts of at most 5 GiB of the largest archive', () => {
    for (const configured of [5, 512, 5120]) {
      const partSize = choosePartSize(5 * tebibyte, configured)
      expect(partSize % mebibyte).toBe(0)
      expect(partSize).toBeLessThanOrEqual(5120 * mebibyte)
      expect(Math.ceil((5 * tebibyte) / partSize)).toBeLessThanOrEqual(5000)
    }
  })
})

describe('the key of an archive', () => {
  it('is told from whatever else is in the bucket', () => {
    const uuid = crypto.randomUUID()
    expect(isArchiveKey(`${uuid}/${uuid}.tar.gz`)).toBe(true)
    for (const other of [
      `${uuid}.tar.gz`,
      `x/${uuid}/${uuid}.tar.gz`,
      `${uuid}/${uuid}.tar.gz.type`,
      'avatars/1',
      '',
    ]) {
      expect(isArchiveKey(other)).toBe(false)
    }
  })
})
