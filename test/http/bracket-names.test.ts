import { afterEach, describe, expect, it } from 'vitest'
import { ApiError } from '../../src/errors.ts'
import { parseBracketNames } from '../../src/http/bracket-names.ts'

const parsed = (text: string) => parseBracketNames(new URLSearchParams(text), { isStrict: false })

/** Returns the status of the refusal; null when the fields are taken. */
function refusalOf(text: string, isStrict = false): number | null {
  try {
    parseBracketNames(new URLSearchParams(text), { isStrict })
    return null
  } catch (error) {
    return error instanceof ApiError ? error.status : 500
  }
}

afterEach(() => {
  delete (Object.prototype as { polluted?: unknown }).polluted
})

describe('names in brackets', () => {
  it('nest objects', () => {
    expect(parsed('filter[short]=a&filter[long]=b&page=2')).toEqual({
      filter: { short: 'a', long: 'b' },
      page: '2',
    })
    expect(parsed('filter%5Bshort%5D=a')).toEqual({ filter: { short: 'a' } })
    expect(parsed('filter[*]=a')).toEqual({ filter: { '*': 'a' } })
    expect(parsed('a[b][c][d]=1')).toEqual({ a: { b: { c: { d: '1' } } } })
  })

  it('make lists of empty brackets and of numbers, also of objects', () => {
    expect(parsed('include[]=a&include[]=b')).toEqual({ include: ['a', 'b'] })
    expect(parsed('ids[0]=a&ids[1]=b')).toEqual({ ids: ['a', 'b'] })
    expect(parsed('ids[7]=a&ids[]=b')).toEqual({ ids: ['a', 'b'] })
    expect(parsed('f[0][from]=a&f[0][to]=b&f[1][from]=c&f[1][to]=d')).toEqual({
      f: [
        { from: 'a', to: 'b' },
        { from: 'c', to: 'd' },
      ],
    })
    expect(parsed('f[][to]=a&f[][to]=b')).toEqual({ f: [{ to: 'a' }, { to: 'b' }] })
  })

  it('make an object of numbers and other names', () => {
    expect(parsed('a[0]=x&a[b]=y')).toEqual({ a: { 0: 'x', b: 'y' } })
  })

  it('take the last of equal names, also in place of members', () => {
    expect(parsed('page=1&page=2')).toEqual({ page: '2' })
    expect(parsed('a=1&a[b]=2')).toEqual({ a: { b: '2' } })
    expect(parsed('a[b]=2&a=1')).toEqual({ a: '1' })
  })

  it('are plain texts without brackets', () => {
    expect(parsed('a.b=+1&-=%E2%82%AC')).toEqual({ 'a.b': ' 1', '-': '€' })
  })

  it.each(['a[b=1', 'a]b=1', '[]=1', '[a]=1', 'a[b]c=1', 'a[b]]=1', 'a[[b]]=1', '=1'])(
    'are left out of a query and refused in a form when they cannot be read: %s',
    (text) => {
      expect(parsed(text)).toEqual({})
      expect(refusalOf(text, true)).toBe(400)
    },
  )

  it('have the limits of JSON: 32 levels and 20,000 members', () => {
    expect(refusalOf(`a${'[b]'.repeat(31)}=1`)).toBe(null)
    expect(refusalOf(`a${'[b]'.repeat(32)}=1`)).toBe(400)
    expect(refusalOf(`a${'[]'.repeat(100_000)}=1`)).toBe(400)
    expect(refusalOf('a[]=1&'.repeat(20_000))).toBe(null)
    expect(refusalOf('a[]=1&'.repeat(20_001))).toBe(400)
  })

  it.each([
    'filter[__proto__]=x',
    'filter[__proto__][polluted]=x',
    '__proto__[polluted]=x',
    '__proto__=x',
    'constructor[prototype][polluted]=x',
  ])('are refused when they lead to the prototype: %s', (text) => {
    expect(refusalOf(text)).toBe(400)
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
  })
})
