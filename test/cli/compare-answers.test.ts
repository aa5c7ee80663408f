import { describe, expect, it } from 'vitest'
import { differingFields } from '../../src/cli/move-in/compare-answers.ts'

const list = (...servers: object[]) => ({
  object: 'list',
  data: servers.map((attributes) => ({ object: 'server', attributes })),
})

describe('two answers', () => {
  it.each([
    ['fields that only the new panel has', { name: 'a' }, { name: 'a', icon: null }],
    [
      'an instant in another spelling',
      { at: '2026-01-01T10:00:00+02:00' },
      { at: '2026-01-01T08:00:00.000Z' },
    ],
    ['the use of the key', { last_used_at: null }, { last_used_at: '2026-01-01T08:00:00Z' }],
    [
      'the name of the panel',
      { path: 'https://old.example/api/x?a=1' },
      { path: 'https://new.example/api/x?a=1' },
    ],
    ['links', { meta: { pagination: { links: { next: 'https://old' } } } }, { meta: { pagination: {} } }],
    ['another order of items', list({ uuid: 'a' }, { uuid: 'b' }), list({ uuid: 'b' }, { uuid: 'a' })],
    ['texts that are no instants', 'same', 'same'],
  ])('are equal in spite of %s', (_, old, current) => {
    expect(differingFields(old, current)).toEqual([])
  })

  it.each([
    ['a field that is missing', { name: 'a' }, {}, ['name']],
    ['another value', { limits: { memory: 1 } }, { limits: { memory: 2 } }, ['limits.memory']],
    ['null in place of a value', { name: 'a' }, { name: null }, ['name']],
    ['a number in place of a text', { port: '1' }, { port: 1 }, ['port']],
    ['another instant', { at: '2026-01-01T10:00:00Z' }, { at: '2026-01-01T10:00:01Z' }, ['at']],
    [
      'a field of an item',
      list({ uuid: 'a', name: 'x' }),
      list({ uuid: 'a', name: 'y' }),
      ['data[a].attributes.name'],
    ],
    ['an item that is missing', list({ uuid: 'a' }), list(), ['data[a]']],
    ['another path', { path: 'https://old.example/a' }, { path: 'https://old.example/b' }, ['path']],
    ['an item more', list(), list({ uuid: 'a' }), ['data[a]']],
    ['a plain list', { permissions: ['a', 'b'] }, { permissions: ['a'] }, ['permissions[1]']],
    ['a list that is longer', { permissions: ['a'] }, { permissions: ['a', 'b'] }, ['permissions[1]']],
    ['a list that is none', { data: [] }, { data: null }, ['data']],
    ['a page in place of an answer', { data: [] }, '<html>', ['(answer)']],
  ])('differ by %s', (_, old, current, fields) => {
    expect(differingFields(old, current)).toEqual(fields)
  })
})
