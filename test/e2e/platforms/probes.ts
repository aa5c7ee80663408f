import { describe, expect, it } from 'vitest'
import { differences } from './differences.ts'
import { record, send } from './probe.ts'
import { probes } from './probe-list.ts'
import type { Fixtures } from './fixtures.ts'

/** Defines the tests that compare responses to one list for all platforms. */
export function probesOn(at: () => Fixtures): void {
  describe('answers as everywhere', () => {
    it.each(probes)('$title: $call', async (probe) => {
      const fixtures = at()
      const difference = differences[probe.title]
      const isDifferent = difference?.on === fixtures.platform.name
      const expected = isDifferent ? difference.expected : probe.expected
      expect(record(await send(fixtures, probe)), isDifferent ? difference.because : '').toEqual(expected)
    })

    it('differ only where there is such a probe', () => {
      const titles = probes.map(({ title }) => title)
      expect(new Set(titles).size).toBe(titles.length)
      expect(Object.keys(differences).filter((title) => !titles.includes(title))).toEqual([])
    })
  })
}
