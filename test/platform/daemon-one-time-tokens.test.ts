import { expect, it } from 'vitest'
import { createOneTimeTokens } from '../../src/dev/daemon/one-time-tokens.ts'

it('remembers a used token for an hour', () => {
  const tokens = createOneTimeTokens()
  expect(tokens.take('a', 0)).toBe(true)
  expect(tokens.take('b', 1_000)).toBe(true)
  expect(tokens.take('a', 3_599_999)).toBe(false)
  expect(tokens.take('a', 3_600_000)).toBe(true)
  expect(tokens.take('b', 3_600_999)).toBe(false)
  expect(tokens.take('b', 3_601_000)).toBe(true)
})
