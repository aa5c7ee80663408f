/** Milliseconds between two lines about the same table. */
const intervalMs = 5000

/** Says on standard error how many rows of a table were copied: while that takes long, and at the end. */
export function startProgress(table: string): { add: (rows: number) => void; end: () => void } {
  const startedAt = performance.now()
  let saidAt = startedAt
  let count = 0
  return {
    add: (rows) => {
      count += rows
      if (performance.now() - saidAt < intervalMs) return
      saidAt = performance.now()
      console.error(`${table}: ${count} rows copied, ${rateOf(count, saidAt - startedAt)}`)
    },
    end: () => {
      if (count > 0) console.error(`${table}: ${count} rows copied and compared`)
    },
  }
}

/** Formats rows and milliseconds as rows a second. */
export const rateOf = (rows: number, milliseconds: number): string =>
  `${Math.round((rows * 1000) / milliseconds)} a second`
