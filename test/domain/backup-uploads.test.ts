import { describe, expect, it } from 'vitest'
import { partSizeOf } from '../../src/domain/backup-uploads.ts'

const mebibyte = 1024 ** 2
const tebibyte = 1024 ** 4

describe('the size of parts', () => {
  it('is 512 MiB while 5,000 of them are enough, then as many whole MiB as make them enough', () => {
    for (const size of [1, mebibyte, 5000 * 512 * mebibyte]) expect(partSizeOf(size)).toBe(512 * mebibyte)
    expect(partSizeOf(5000 * 512 * mebibyte + 1)).toBe(513 * mebibyte)
    for (const size of [3 * tebibyte + 1, 7 * tebibyte, 20 * tebibyte]) {
      const partSize = partSizeOf(size) ?? 0
      expect(partSize % mebibyte).toBe(0)
      expect(Math.ceil(size / partSize)).toBeLessThanOrEqual(5000)
    }
  })

  it('is at most 5 GiB: what needs larger ones has none', () => {
    expect(partSizeOf(5000 * 5120 * mebibyte)).toBe(5120 * mebibyte)
    expect(partSizeOf(5000 * 5120 * mebibyte + 1)).toBeNull()
    expect(partSizeOf(Number.MAX_SAFE_INTEGER)).toBeNull()
  })
})
