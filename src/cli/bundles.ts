import { readdir, readFile } from 'node:fs/promises'
import { dirname, extname, join } from 'node:path/posix'
import { gzipSync } from 'node:zlib'
import { zipEntries } from './zip-entries.ts'

/** Maximum size in KiB, compressed by gzip, of what each function loads when it starts. */
export const budgetsKib = { client: 260, application: 270, remote: 190, browser: 200, jobs: 225 }

/** Maximum size of the worker with the whole panel in KiB: the limit of Workers on the smallest plan. */
export const wholePanelBudgetKib = 3072

export type SurfaceName = keyof typeof budgetsKib

/** The functions, in the order of their deployment. */
export const surfaceNames = Object.keys(budgetsKib) as SurfaceName[]

/** The bundle of one function; sizes in KiB. */
export type BundleSize = { name: string; raw: number; gzip: number; budget: number }

/** Files of a bundle by their paths. */
export type BundleFiles = ReadonlyMap<string, Buffer>

const kibibyte = 1024
const codeTypes = new Set(['.js', '.mjs', '.wasm'])

/** Reads the output of `wrangler deploy --outdir`. */
export async function readWorker(folder: string): Promise<BundleFiles> {
  const files = (await readdir(folder)).filter((file) => codeTypes.has(extname(file)))
  return new Map(
    await Promise.all(files.map(async (file) => [file, await readFile(join(folder, file))] as const)),
  )
}

/** Reads the code in an archive of `serverless package`. */
export async function readLambda(archive: string): Promise<BundleFiles> {
  const code = zipEntries(await readFile(archive)).filter(
    // The files of the web application in the archive are not code of the function.
    ({ name }) => codeTypes.has(extname(name)) && !name.startsWith('dist/'),
  )
  return new Map(code.map(({ name, data }) => [name, data()]))
}

/** Returns the files that a function loads when it starts: its entry and what that imports other than dynamically. */
export function filesAtStart(files: BundleFiles, entry: string): BundleFiles {
  const found = new Map<string, Buffer>()
  const add = (path: string) => {
    const code = files.get(path)
    if (!code || found.has(path)) return
    found.set(path, code)
    for (const [, imported = ''] of code.toString().matchAll(/(?:from|import) ?"(\.[^"]+)"/g))
      add(join(dirname(path), imported))
  }
  add(entry)
  return found
}

/** Returns the path of the entry of a function. Throws when the bundle has none. */
export function entryOf(name: string, files: BundleFiles): string {
  const entry = [...files.keys()].find((file) => /(^|\/)(worker|lambda)\.m?js$/.test(file))
  if (entry === undefined) throw new Error(`There is no code in the bundle of ${name}.`)
  return entry
}

/** Measures what a function loads when it starts. Throws when its bundle has no code. */
export const sizeAtStart = (name: SurfaceName, files: BundleFiles): BundleSize =>
  sizeOf(name, filesAtStart(files, entryOf(name, files)), budgetsKib[name])

/** Measures the worker with the whole panel, of which Cloudflare limits what is uploaded. Throws when it has no code. */
export function wholePanelSize(files: BundleFiles): BundleSize {
  entryOf('roost', files)
  return sizeOf('roost', files, wholePanelBudgetKib)
}

function sizeOf(name: string, files: BundleFiles, budget: number): BundleSize {
  const sum = (bytes: number[]) => bytes.reduce((total, each) => total + each, 0) / kibibyte
  const code = [...files.values()]
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
