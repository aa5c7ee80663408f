import { describe, expect, it } from 'vitest'
import { compareLines } from '../../src/web/components/line-difference.ts'
import { rowsOf } from '../../src/web/server/difference/difference-rows.ts'

const side = (line: { number: number; text: string } | null) => (line ? `${line.number} ${line.text}` : '')
const rows = (before: string[], after: string[]) =>
  rowsOf(compareLines(before.join('\n'), after.join('\n'))).map((row) =>
    row.kind === 'skipped' ? `… ${row.lines}` : `${row.kind}: ${side(row.before)} | ${side(row.after)}`,
  )

describe('the rows of two texts beside each other', () => {
  it('have a changed line beside its replacement', () => {
    expect(rows(['a', 'b', 'c'], ['a', 'x', 'y', 'c'])).toEqual([
      'same: 1 a | 1 a',
      'changed: 2 b | 2 x',
      'changed:  | 3 y',
      'same: 3 c | 4 c',
    ])
  })

  it('count the lines that are left out', () => {
    const lines = ['1', '2', '3', '4', '5', '6', '7']
    expect(rows(lines, [...lines, '8'])).toEqual([
      '… 5',
      'same: 6 6 | 6 6',
      'same: 7 7 | 7 7',
      'changed:  | 8 8',
    ])
    expect(rows(['a'], ['a'])).toEqual(['… 1'])
  })
})
