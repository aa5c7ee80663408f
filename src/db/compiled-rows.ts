/** Makes a value of a cell that is not null, of whatever type its column has. */
export type Decode = (cell: never) => unknown

type Cells = readonly (readonly [name: string, decode: Decode | null])[]

/**
 * Returns the function that makes a row of its cells, by position, of which the first one is at `first`; cells without a
 * decoder stay as they are.
 */
export function rowDecoder<Row>(cells: Cells, first = 0): (values: unknown) => Row {
  let decode: ((values: unknown[]) => object) | null = null
  return (values) => {
    decode ??= canCompile() ? compileRow(cells, first) : rowByName(cells, first)
    return decode(values as unknown[]) as Row
  }
}

let canCompileCode: boolean | null = null

/** Whether this process compiles code: Workers do so while they start, and no more once they answer requests. */
function canCompile(): boolean {
  if (canCompileCode !== null) return canCompileCode
  try {
    // oxlint-disable-next-line typescript/no-implied-eval -- only asks whether code can be compiled
    canCompileCode = Boolean(new Function(''))
  } catch {
    canCompileCode = false
  }
  return canCompileCode
}

/** Compiled rows by their source, since statements with filters are built anew each time. */
const compiledRows = new Map<string, (decoders: (Decode | null)[]) => (values: unknown[]) => object>()
const maxCompiledRows = 1000

/**
 * Compiles the literal of a row: V8 makes such an object in one step, while one function for all rows would look up
 * the place of each field.
 */
function compileRow(cells: Cells, first: number): (values: unknown[]) => object {
  const fields = cells.map(([name, decode], at) => {
    const cell = `values[${first + at}]`
    return `${JSON.stringify(name)}: ${decode ? `${cell} === null ? null : decoders[${at}](${cell})` : cell}`
  })
  const source = `return (values) => ({ ${fields.join(', ')} })`
  let compiled = compiledRows.get(source)
  if (!compiled) {
    // oxlint-disable-next-line typescript/no-implied-eval -- of names in our own code, quoted
    compiled = new Function('decoders', source) as NonNullable<typeof compiled>
    if (compiledRows.size >= maxCompiledRows) compiledRows.clear()
    compiledRows.set(source, compiled)
  }
  return compiled(cells.map(([, decode]) => decode))
}

const rowByName = (cells: Cells, first: number) => (values: unknown[]) => {
  const row: Record<string, unknown> = {}
  for (const [at, [name, decode]] of cells.entries()) {
    const cell = values[first + at]
    row[name] = cell === null || !decode ? cell : decode(cell as never)
  }
  return row
}
