import { readdir, readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { zipEntries } from './zip-entries.ts'

/** Maximum size of each function in KiB, compressed by gzip: each cold start loads it. */
export const budgetsKib = { client: 700, application: 700, remote: 300, browser: 300, jobs: 700 }

/** Maximum size of the worker with the whole panel in KiB: the limit of Workers on the smallest plan. */
export const wholePanelBudgetKib = 3072

export type SurfaceName = keyof typeof budgetsKib

/** The functions, in the order of their deployment. */
export const surfaceNames = Object.keys(budgetsKib) as SurfaceName[]

/** The bundle of one function; sizes in KiB. */
export type BundleSize = { name: string; raw: number; gzip: number; budget: number }

const kibibyte = 1024
const codeTypes = new Set(['.js', '.mjs', '.wasm'])

/** Measures the output of `wrangler deploy --outdir`. Throws when it has no code. */
export async function workerSize(name: string, folder: string, budget: number): Promise<BundleSize> {
  const files = await readdir(folder, { recursive: true })
  const code = files.filter((file) => codeTypes.has(extname(file)))
  return sizeOf(name, await Promise.all(code.map((file) => readFile(join(folder, file)))), budget)
}

/** Measures the code in an archive of `serverless package`. Throws when it has no code. */
export async function lambdaSize(name: string, archive: string, budget: number): Promise<BundleSize> {
  const entries = zipEntries(await readFile(archive))
  // The files of the web application in the archive are not code of the function.
  const code = entries.filter(
    (entry) => codeTypes.has(extname(entry.name)) && !entry.name.startsWith('dist/'),
  )
  return sizeOf(
    name,
    code.map(({ data }) => data()),
    budget,
  )
}

function sizeOf(name: string, code: Buffer[], budget: number): BundleSize {
  if (code.length === 0) throw new Error(`There is no code in the bundle of ${name}.`)
  const sum = (bytes: number[]) => bytes.reduce((total, each) => total + each, 0) / kibibyte
  return {
    name,
    raw: sum(code.map(({ byteLength }) => byteLength)),
    gzip: sum(code.map((each) => gzipSync(each).byteLength)),
    budget,
  }
}

/** Returns the bundles that are larger than their budget. */
export const overBudget = (sizes: BundleSize[]): BundleSize[] =>
  sizes.filter(({ gzip, budget }) => gzip > budget)

/** Formats the sizes as a table, one line per function, and marks those over their budget. */
export function sizeTable(sizes: BundleSize[]): string {
  const oversized = new Set(overBudget(sizes))
  const rows = sizes.map((size) => [
    size.name,
    size.raw.toFixed(1),
    size.gzip.toFixed(1),
    String(size.budget),
    oversized.has(size) ? 'over' : '',
  ])
  const lines = [['function', 'raw KiB', 'gzip KiB', 'budget', ''], ...rows]
  return lines
    .map(([name = '', raw = '', gzip = '', budget = '', mark = '']) =>
      `${name.padEnd(11)}  ${raw.padStart(9)}  ${gzip.padStart(9)}  ${budget.padStart(7)}  ${mark}`.trimEnd(),
    )
    .join('\n')
}
