/** A curve of a chart; `colour` is the name of a design token. */
export type Curve = { name: string; colour: string; values: readonly (number | null)[] }

/**
 * Describes curves in text, each by its last and its greatest value: `words` gets null for one of which nothing is
 * known.
 */
export const describeCurves = (
  curves: readonly Curve[],
  format: (value: number) => string,
  words: (name: string, last: string | null, most: string) => string,
): string =>
  curves
    .map(({ name, values }) => {
      const known = values.filter((value) => value !== null)
      const last = known.at(-1)
      return last === undefined
        ? words(name, null, '')
        : words(name, format(last), format(Math.max(...known)))
    })
    .join(' ')
