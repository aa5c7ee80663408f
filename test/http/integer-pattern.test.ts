import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { integer } from '../../src/domain/fields.ts'
import { integerPattern } from '../../src/http/integer-pattern.ts'
import { generatedRuns, generatedSeed } from '../support/generated-runs.ts'

const bound = fc.oneof(
  fc.integer({ min: -2000, max: 2000 }),
  fc.integer({ min: -2_147_483_647, max: 2_147_483_647 }),
)
const property = { numRuns: generatedRuns({ few: 300, all: 5000 }), ...generatedSeed() }

describe('the pattern of a number as text', () => {
  it('matches exactly the numbers within the bounds, near them and far away', () => {
    fc.assert(
      fc.property(bound, bound, fc.integer({ min: -12, max: 12 }), bound, (one, other, near, far) => {
        const [low, high] = [Math.min(one, other), Math.max(one, other)]
        const pattern = new RegExp(integerPattern(low, high), 'u')
        for (const number of [low, high, low + near, high + near, far, -far, Math.trunc(far / 1000), 0]) {
          expect(pattern.test(String(number)), `${number} in ${low} to ${high}`).toBe(
            number >= low && number <= high,
          )
        }
      }),
      property,
    )
  })

  it.each(['007', '7.0', '7.00', '-0', '-0.0', '7.5', '1e3', '+7', '7.', '.7', '0x7', ' 7', '', '٧'])(
    'matches %j where the field takes it',
    (text) => {
      expect(new RegExp(integerPattern(-5, 1000), 'u').test(text)).toBe(
        integer(-5, 1000).safeParse(text).success,
      )
    },
  )
})
