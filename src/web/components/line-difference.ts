/** A line of two texts: of both, of the first alone (`removed`) or of the second alone (`added`); or how many equal ones are left out. */
export type DifferenceLine =
  | { kind: 'same' | 'removed' | 'added'; text: string }
  | { kind: 'skipped'; lines: number }

/** Lines around a change that are shown. */
const context = 2
/** Pairs of lines that are compared; longer changes are shown as a whole. */
const maxPairs = 1_000_000

const linesOf = (text: string) => (text === '' ? [] : text.replaceAll('\r\n', '\n').split('\n'))

/** Compares two texts line by line, with the longest lines in common, and leaves out what is equal and far from a change. */
export function compareLines(before: string, after: string): DifferenceLine[] {
  const [old, next] = [linesOf(before), linesOf(after)]
  let start = 0
  while (start < old.length && start < next.length && old[start] === next[start]) start += 1
  let end = 0
  const shortest = Math.min(old.length, next.length) - start
  while (end < shortest && old.at(-1 - end) === next.at(-1 - end)) end += 1
  const same = (lines: string[]) => lines.map((text) => ({ kind: 'same' as const, text }))
  return withoutDistantLines([
    ...same(old.slice(0, start)),
    ...compareMiddle(old.slice(start, old.length - end), next.slice(start, next.length - end)),
    ...same(old.slice(old.length - end)),
  ])
}

type Line = Extract<DifferenceLine, { text: string }>

function compareMiddle(old: string[], next: string[]): Line[] {
  if (old.length * next.length > maxPairs) {
    return [
      ...old.map((text): Line => ({ kind: 'removed', text })),
      ...next.map((text): Line => ({ kind: 'added', text })),
    ]
  }
  const common = commonLengths(old, next)
  const at = (row: number, column: number) => common[row]?.[column] ?? 0
  const lines: Line[] = []
  let [row, column] = [0, 0]
  while (row < old.length || column < next.length) {
    const [from, to] = [old[row], next[column]]
    if (from !== undefined && from === to) {
      lines.push({ kind: 'same', text: from })
      row += 1
      column += 1
    } else if (from !== undefined && (to === undefined || at(row + 1, column) >= at(row, column + 1))) {
      lines.push({ kind: 'removed', text: from })
      row += 1
    } else {
      lines.push({ kind: 'added', text: to ?? '' })
      column += 1
    }
  }
  return lines
}

/** Returns for each pair of positions how many lines the rests have in common, in order. */
function commonLengths(old: string[], next: string[]): Uint32Array[] {
  const lengths = Array.from({ length: old.length + 1 }, () => new Uint32Array(next.length + 1))
  for (let row = old.length - 1; row >= 0; row -= 1) {
    const [current, below] = [lengths[row], lengths[row + 1]]
    if (!current || !below) continue
    for (let column = next.length - 1; column >= 0; column -= 1) {
      current[column] =
        old[row] === next[column]
          ? (below[column + 1] ?? 0) + 1
          : Math.max(below[column] ?? 0, current[column + 1] ?? 0)
    }
  }
  return lengths
}

function withoutDistantLines(lines: Line[]): DifferenceLine[] {
  const isNear = lines.map((_, at) =>
    lines.slice(Math.max(0, at - context), at + context + 1).some(({ kind }) => kind !== 'same'),
  )
  const shown: DifferenceLine[] = []
  for (const [at, line] of lines.entries()) {
    const last = shown.at(-1)
    if (isNear[at]) shown.push(line)
    else if (last?.kind === 'skipped') last.lines += 1
    else shown.push({ kind: 'skipped', lines: 1 })
  }
  return shown
}
