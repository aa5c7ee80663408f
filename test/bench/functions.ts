import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { budgetsKib, lambdaSize, type SurfaceName, surfaceNames, workerSize } from '../../src/cli/bundles.ts'
import { runQuietly } from '../../src/cli/deployment.ts'
import { startupBudgetMs, measureStartupCpuMs } from '../../src/cli/startup-cpu.ts'
import { zipEntries } from '../../src/cli/zip-entries.ts'
import { decimal, printHeading, printTable } from './table.ts'

/** A function on one cloud: KiB of its bundle, and milliseconds of processor time to load it. */
export type FunctionCosts = { cloud: string; name: SurfaceName; gzipKib: number; processorMs: number }

/** Other processes make a start longer, never shorter. */
const starts = 3

/** Bundles every function for both clouds as a deployment does, and loads each. */
export async function measureFunctions(): Promise<FunctionCosts[]> {
  return withBundles(async (bundles) => {
    const costs: FunctionCosts[] = []
    for (const { cloud, name, gzipKib, file } of bundles) {
      const times: number[] = []
      for (let start = 0; start < starts; start += 1) times.push(await measureStartupCpuMs(file))
      costs.push({ cloud, name, gzipKib, processorMs: Math.min(...times) })
    }
    return costs
  })
}

type Bundle = { cloud: string; name: SurfaceName; gzipKib: number; file: string }

/** Bundles every function for both clouds, for as long as `work` takes. */
export async function withBundles<T>(work: (bundles: Bundle[]) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'roost-bench-'))
  const [workers, lambdas] = [join(folder, 'workers'), join(folder, 'lambda')]
  try {
    await runQuietly('src/cli/scripts/deploy-workers.ts', ['--dry-run', '--out', workers])
    await runQuietly('src/cli/scripts/deploy-lambda.ts', ['--package', '--out', lambdas])
    const bundles: Bundle[] = []
    for (const name of surfaceNames) {
      const { gzip } = await workerSize(name, join(workers, name), budgetsKib[name])
      bundles.push({ cloud: 'workers', name, gzipKib: gzip, file: join(workers, name, 'worker.js') })
    }
    for (const name of surfaceNames) bundles.push(await lambdaBundle(lambdas, name))
    return await work(bundles)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function lambdaBundle(folder: string, name: SurfaceName): Promise<Bundle> {
  const archive = join(folder, `${name}.zip`)
  const { gzip } = await lambdaSize(name, archive, budgetsKib[name])
  const code = zipEntries(await readFile(archive)).find((entry) => entry.name.endsWith('lambda.mjs'))
  if (!code) throw new Error(`There is no code in the bundle of ${name}.`)
  const file = join(folder, `${name}.mjs`)
  await writeFile(file, code.data())
  return { cloud: 'lambda', name, gzipKib: gzip, file }
}

/** Prints the sizes of the functions and what loading them costs. */
export function printFunctions(costs: FunctionCosts[]): void {
  printHeading(`functions (a start may take ${startupBudgetMs} ms)`)
  printTable(
    ['function', 'cloud', 'gzip KiB', 'processor ms'],
    costs.map(({ cloud, name, gzipKib, processorMs }) => [
      name,
      cloud,
      decimal(gzipKib, 1),
      decimal(processorMs, 0),
    ]),
  )
}
