import { describe, expect, it } from 'vitest'
import { hashidOptionsOf, openHashids } from '../../src/cli/move-in/hashids.ts'

const letters = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ1234567890'

describe('ids as Pterodactyl writes them', () => {
  it.each([
    ['this is my salt', 0, letters, 12_345, 'NkK9'],
    ['this is my salt', 0, letters, 1, 'NV'],
    ['this is my salt', 8, letters, 1, 'gB0NV05e'],
    ['this is my salt', 0, '0123456789abcdef', 1_234_567, 'b332db5'],
    ['', 8, letters, 1, 'olejRejN'],
    ['', 0, letters, 1, 'jR'],
  ])('are those of hashids.org: %j, %i, %s, %i', (salt, length, alphabet, id, hashid) => {
    expect(openHashids({ salt, length, alphabet })(id)).toBe(hashid)
  })

  it('have the length that is asked, and differ', () => {
    const hashids = openHashids({ salt: 'grün 🎲', length: 30, alphabet: letters })
    const written = Array.from({ length: 500 }, (_, id) => hashids(id * 4_294_967))
    expect(new Set(written).size).toBe(500)
    expect(written.every((text) => text.length === 30)).toBe(true)
  })

  it('take the options of the old panel, and its defaults', () => {
    expect(hashidOptionsOf({})).toEqual({ salt: '', length: 8, alphabet: letters })
    expect(hashidOptionsOf({ HASHIDS_SALT: 's', HASHIDS_LENGTH: '12', HASHIDS_ALPHABET: letters })).toEqual({
      salt: 's',
      length: 12,
      alphabet: letters,
    })
  })
})
