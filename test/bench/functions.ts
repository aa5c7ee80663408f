import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import {
  type BundleFiles,
  entryOf,
  readLambda,
  readWorker,
  sizeAtStart,
  type SurfaceName,
  surfaceNames,
} from '../../src/cli/bundles.ts'
import { runQuietly } from '../../src/cli/deployment.ts'
import { bundleReference, measureStartup } from '../../src/cli/startup-cpu.ts'
import { decimal, printHeading, printTable } from './table.ts'

/** A function on one cloud: KiB of what it loads when it starts, and the processor time of that in milliseconds. */
type FunctionCosts = {
  cloud: string
  name: SurfaceName
  gzipKib: number
  milliseconds: number
  ratio: number
}

type Bundle = { cloud: string; name: SurfaceName; files: BundleFiles }

/** Bundles every function for both clouds as a deployment does. */
export async function bundleFunctions(): Promise<Bundle[]> {
  const folder = await mkdtemp(join(tmpdir(), 'roost-bench-'))
  const [workers, lambdas] = [join(folder, 'workers'), join(folder, 'lambda')]
  try {
    await runQuietly('src/cli/scripts/deploy-workers.ts', ['--dry-run', '--out', workers])
    await runQuietly('src/cli/scripts/deploy-lambda.ts', ['--package', '--out', lambdas])
    const bundles: Bundle[] = []
    for (const name of surfaceNames) {
      bundles.push({ cloud: 'workers', name, files: await readWorker(join(workers, name)) })
      bundles.push({ cloud: 'lambda', name, files: await readLambda(join(lambdas, `${name}.zip`)) })
    }
    return bundles
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Measures the size of every function at its start, and what loading it costs. */
export async function measureFunctions(): Promise<FunctionCosts[]> {
  const bundles = await bundleFunctions()
  const folder = await mkdtemp(join(tmpdir(), 'roost-bench-'))
  try {
    const reference = await bundleReference(join(folder, 'reference.mjs'))
    const costs: FunctionCosts[] = []
    for (const { cloud, name, files } of bundles) {
      const entry = await writeBundle(join(folder, cloud, name), name, files)
      const { gzip } = sizeAtStart(name, files)
      costs.push({ cloud, name, gzipKib: gzip, ...(await measureStartup(entry, reference)) })
    }
    return costs
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function writeBundle(folder: string, name: string, files: BundleFiles): Promise<string> {
  for (const [path, code] of files) {
    const file = join(folder, path)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, code)
  }
  return join(folder, entryOf(name, files))
}

/** Prints the sizes of the functions and what loading them costs. */
export function printFunctions(costs: FunctionCosts[]): void {
  printHeading('functions: what they load when they start')
  printTable(
    ['function', 'cloud', 'gzip KiB', 'processor ms', 'of Hono and zod'],
    costs.map(({ cloud, name, gzipKib, milliseconds, ratio }) => [
      name,
      cloud,
      decimal(gzipKib, 1),
      decimal(milliseconds, 0),
      `×${decimal(ratio, 1)}`,
    ]),
  )
}
