/** Prints aligned columns: the first to the left, the others to the right. */
export function printTable(columns: string[], lines: string[][]): void {
  const widths = columns.map((title, at) =>
    Math.max(title.length, ...lines.map((line) => line[at]?.length ?? 0)),
  )
  for (const line of [columns, ...lines]) {
    const cells = line.map((cell, at) =>
      at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0),
    )
    console.log(cells.join('  ').trimEnd())
  }
}

/** Prints the heading of a section. */
export const printHeading = (text: string): void => console.log(`\n== ${text}`)

/** The median, the least and the greatest of the rounds. */
export type Spread = { median: number; min: number; max: number }

const middle = (sorted: number[]) =>
  ((sorted[Math.floor((sorted.length - 1) / 2)] ?? Number.NaN) +
    (sorted[Math.floor(sorted.length / 2)] ?? Number.NaN)) /
  2

/** Returns the median of numbers and their spread. */
export function spreadOf(numbers: number[]): Spread {
  const sorted = numbers.filter((each) => !Number.isNaN(each)).toSorted((a, b) => a - b)
  return {
    median: middle(sorted),
    min: sorted[0] ?? Number.NaN,
    max: sorted.at(-1) ?? Number.NaN,
  }
}

/** Writes a share in percent with its spread, such as `62 (58–66)`; a dash for what was not measured. */
export function percent({ median, min, max }: Spread): string {
  if (Number.isNaN(median)) return '–'
  const [middle, low, high] = [median, min, max].map((share) => (share * 100).toFixed(0))
  return `${middle} (${low}–${high})`
}

/** Writes a number with so many decimals; a dash for none. */
export const decimal = (value: number, digits: number): string =>
  Number.isNaN(value) ? '–' : value.toFixed(digits)

/** Writes bytes in KiB. */
export const kib = (bytes: number): string => decimal(bytes / 1024, 1)
/** Writes bytes in MiB. */
export const mib = (bytes: number): string => decimal(bytes / 1024 / 1024, 0)
