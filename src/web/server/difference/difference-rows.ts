import type { DifferenceLine } from '../../components/line-difference.ts'

/** A line with its number in its text. */
export type NumberedLine = { number: number; text: string }

/** A row of two texts beside each other; a side is null where its text has no line. */
export type DifferenceRow =
  | { kind: 'same' | 'changed'; before: NumberedLine | null; after: NumberedLine | null }
  | { kind: 'skipped'; lines: number }

/** Places removed lines beside the added ones that follow them. */
export function rowsOf(lines: readonly DifferenceLine[]): DifferenceRow[] {
  const rows: DifferenceRow[] = []
  let [before, after] = [0, 0]
  let removed: NumberedLine[] = []
  let added: NumberedLine[] = []
  const flush = () => {
    for (let at = 0; at < Math.max(removed.length, added.length); at += 1)
      rows.push({ kind: 'changed', before: removed[at] ?? null, after: added[at] ?? null })
    removed = []
    added = []
  }
  for (const line of lines) {
    if (line.kind === 'removed') removed.push({ number: (before += 1), text: line.text })
    else if (line.kind === 'added') added.push({ number: (after += 1), text: line.text })
    else {
      flush()
      if (line.kind === 'skipped') {
        rows.push(line)
        before += line.lines
        after += line.lines
      } else {
        const { text } = line
        rows.push({
          kind: 'same',
          before: { number: (before += 1), text },
          after: { number: (after += 1), text },
        })
      }
    }
  }
  flush()
  return rows
}
