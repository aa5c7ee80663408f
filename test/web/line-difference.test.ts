import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compareLines, type DifferenceLine } from '../../src/web/components/line-difference.ts'
import { generatedRuns, generatedSeed } from '../support/generated-runs.ts'

const written = (lines: DifferenceLine[]) =>
  lines.map((line) =>
    line.kind === 'skipped'
      ? `… ${line.lines}`
      : `${{ same: ' ', removed: '-', added: '+' }[line.kind]}${line.text}`,
  )
const compare = (before: string[], after: string[]) =>
  written(compareLines(before.join('\n'), after.join('\n')))

describe('the difference of two texts', () => {
  it('has what was removed and added, with the lines around it', () => {
    expect(compare(['a', 'b', 'c'], ['a', 'x', 'c'])).toEqual([' a', '-b', '+x', ' c'])
    expect(compare(['a'], ['a', 'b'])).toEqual([' a', '+b'])
    expect(compareLines('', 'a')).toEqual([{ kind: 'added', text: 'a' }])
    expect(compareLines('a\r\nb', 'a\nb')).toEqual([{ kind: 'skipped', lines: 2 }])
  })

  it('leaves out equal lines that are far from a change', () => {
    const lines = ['1', '2', '3', '4', '5', '6', '7']
    expect(compare(lines, [...lines, '8'])).toEqual(['… 5', ' 6', ' 7', '+8'])
    expect(compare(lines, ['0', ...lines])).toEqual(['+0', ' 1', ' 2', '… 5'])
  })

  it('leads from one text to the other, whatever they are', () => {
    const texts = fc.array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 12 })
    fc.assert(
      fc.property(texts, texts, (before, after) => {
        const lines = compareLines(before.join('\n'), after.join('\n'))
        const shown = (kind: 'removed' | 'added') =>
          lines.filter((line) => line.kind === kind || line.kind === 'same').length
        const skipped = lines.reduce((sum, line) => sum + (line.kind === 'skipped' ? line.lines : 0), 0)
        const count = (text: string) => (text === '' ? 0 : text.split('\n').length)
        expect(shown('removed') + skipped).toBe(count(before.join('\n')))
        expect(shown('added') + skipped).toBe(count(after.join('\n')))
      }),
      { numRuns: generatedRuns({ few: 200, all: 5000 }), ...generatedSeed() },
    )
  })

  it('shows texts of thousands of lines that have nothing in common as a whole', () => {
    const lines = (word: string) => Array.from({ length: 3000 }, (_, at) => `${word} ${at}`)
    expect(compareLines(lines('a').join('\n'), lines('b').join('\n'))).toHaveLength(6000)
  })
})
