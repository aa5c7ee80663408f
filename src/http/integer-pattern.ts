/**
 * Writes the pattern of the texts that count as an integer from `minimum` to `maximum`: with leading zeros, and with
 * zeros after a point.
 */
export function integerPattern(minimum: number, maximum: number): string {
  const alternatives = [
    ...(minimum < 0 ? [`-0*(?:${digitPatterns(Math.max(1, -maximum), -minimum).join('|')})`] : []),
    ...(maximum >= 0 ? [`0*(?:${digitPatterns(Math.max(0, minimum), maximum).join('|')})`] : []),
    ...(minimum <= 0 && maximum >= 0 ? ['-0+'] : []),
  ]
  return `^(?:${alternatives.join('|')})(?:\\.0+)?$`
}

/** Lists patterns of digits that together match the numbers from `low` to `high`, both at least 0. */
function digitPatterns(low: number, high: number): string[] {
  // Between two neighbours of these ends, each digit has a range of its own.
  const ends = new Set([high])
  for (let size = 10; nextNines(low, size) < high; size *= 10) ends.add(nextNines(low, size))
  for (let size = 10; lastBefore(high, size) > low; size *= 10) ends.add(lastBefore(high, size))
  let start = low
  return [...ends]
    .toSorted((one, other) => one - other)
    .map((end) => {
      const pattern = blockPattern(String(start), String(end))
      start = end + 1
      return pattern
    })
}

const nextNines = (number: number, size: number) => Math.floor(number / size) * size + size - 1
const lastBefore = (number: number, size: number) => Math.floor((number + 1) / size) * size - 1

/** Writes two numbers of the same length as one pattern, with a range for each digit that differs. */
const blockPattern = (low: string, high: string): string =>
  Array.from(low)
    .map((digit, at) => (digit === high[at] ? digit : `[${digit}-${high[at]}]`))
    .join('')
    .replace(/(\[0-9\])+/g, (run) => (run.length > 5 ? `\\d{${run.length / 5}}` : '\\d'))
