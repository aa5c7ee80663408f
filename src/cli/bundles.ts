import { readdir, readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { zipEntries } from './zip-entries.ts'

/** The most that a function may weigh, in KiB compressed by gzip: what it loads, it loads at every cold start. */
export const budgets = { client: 700, application: 700, remote: 300, browser: 300, jobs: 700 }

/** The most that the whole panel in one worker may weigh, in KiB: what Workers take on the smallest plan. */
export const wholeBudget = 3072

export type Surface = keyof typeof budgets

/** The functions, in the order in which they are deployed. */
export const surfaces = Object.keys(budgets) as Surface[]

/** One function as its cloud loads it; sizes in KiB. */
export type BundleSize = { name: string; raw: number; gzip: number; budget: number }

const kibibyte = 1024
const codeTypes = new Set(['.js', '.mjs', '.wasm'])

/** The size of what `wrangler deploy --outdir` left in the folder. Throws when there is no code. */
export async function workerSize(name: string, folder: string, budget: number): Promise<BundleSize> {
  const files = await readdir(folder, { recursive: true })
  const code = files.filter((file) => codeTypes.has(extname(file)))
  return sizeOf(name, await Promise.all(code.map((file) => readFile(join(folder, file)))), budget)
}

/** The size of the code in the archive that `serverless package` made. Throws when there is none. */
export async function lambdaSize(name: string, archive: string, budget: number): Promise<BundleSize> {
  const entries = zipEntries(await readFile(archive))
  // The application's files come along as they are.
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

/** Those that weigh more than they may. */
export const overBudget = (sizes: BundleSize[]): BundleSize[] =>
  sizes.filter(({ gzip, budget }) => gzip > budget)

/** A line for each function, with those over their budget marked. */
export function sizeTable(sizes: BundleSize[]): string {
  const heavy = new Set(overBudget(sizes))
  const rows = sizes.map((size) => [
    size.name,
    size.raw.toFixed(1),
    size.gzip.toFixed(1),
    String(size.budget),
    heavy.has(size) ? 'over' : '',
  ])
  const lines = [['function', 'raw KiB', 'gzip KiB', 'budget', ''], ...rows]
  return lines
    .map(([name = '', raw = '', gzip = '', budget = '', mark = '']) =>
      `${name.padEnd(11)}  ${raw.padStart(9)}  ${gzip.padStart(9)}  ${budget.padStart(7)}  ${mark}`.trimEnd(),
    )
    .join('\n')
}
