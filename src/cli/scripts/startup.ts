import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readOptions } from '../program-options.ts'
import { type SurfaceName, surfaceNames } from '../bundles.ts'
import { runQuietly, runScript } from '../deployment.ts'
import { OperationError } from '../faults.ts'
import { startupBudgetMs, measureStartupCpuMs } from '../startup-cpu.ts'
import { zipEntries } from '../zip-entries.ts'

readOptions(
  `Usage: npm run startup

Bundles every function for both clouds and prints the CPU time for loading it.
Exit code 1 when one takes more than ${startupBudgetMs} ms.`,
  {},
)

/** Returns the path of the bundle of a function. */
type FindBundle = (folder: string, name: SurfaceName) => Promise<string>

const workerBundle: FindBundle = async (folder, name) => join(folder, name, 'worker.js')

const lambdaBundle: FindBundle = async (folder, name) => {
  const code = zipEntries(await readFile(join(folder, `${name}.zip`))).find((entry) =>
    entry.name.endsWith('lambda.mjs'),
  )
  if (!code) throw new OperationError(`There is no code in the bundle of ${name}.`)
  const file = join(folder, `${name}.mjs`)
  await writeFile(file, code.data())
  return file
}

const clouds = [
  { name: 'workers', script: 'deploy-workers.ts', args: ['--dry-run'], findBundle: workerBundle },
  { name: 'lambda', script: 'deploy-lambda.ts', args: ['--package'], findBundle: lambdaBundle },
]

await runScript(async () => {
  const slow: string[] = []
  for (const { name, script, args, findBundle } of clouds) {
    const folder = await mkdtemp(join(tmpdir(), 'roost-startup-'))
    try {
      await runQuietly(join('src', 'cli', 'scripts', script), [...args, '--out', folder])
      for (const surface of surfaceNames) {
        const milliseconds = await measureStartupCpuMs(await findBundle(folder, surface))
        if (milliseconds > startupBudgetMs) slow.push(`${surface} on ${name}`)
        console.log(
          `${name.padEnd(8)}${surface.padEnd(12)}${milliseconds.toFixed(0).padStart(5)} ms of CPU time`,
        )
      }
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }
  if (slow.length > 0) throw new OperationError(`More than ${startupBudgetMs} ms: ${slow.join(', ')}.`)
})
