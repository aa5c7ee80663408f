import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { readOptions } from '../program-options.ts'
import { entryOf, readLambda, type SurfaceName, surfaceNames } from '../bundles.ts'
import { runQuietly, runScript } from '../deployment.ts'
import { OperationError } from '../faults.ts'
import { bundleReference, maxStartupRatio, measureStartup } from '../startup-cpu.ts'

readOptions(
  `Usage: npm run startup

Bundles every function for both clouds and prints the CPU time for loading it, also as a multiple of that for Hono and
zod alone. Exit code 1 when one takes more than ${maxStartupRatio} times as much.`,
  {},
)

/** Returns the path of the entry of a function's bundle, which `folder` has. */
type FindEntry = (folder: string, name: SurfaceName) => Promise<string>

const workerEntry: FindEntry = async (folder, name) => join(folder, name, 'worker.js')

const lambdaEntry: FindEntry = async (folder, name) => {
  const files = await readLambda(join(folder, `${name}.zip`))
  for (const [path, code] of files) {
    const file = join(folder, name, path)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, code)
  }
  return join(folder, name, entryOf(name, files))
}

const clouds = [
  { name: 'workers', script: 'deploy-workers.ts', args: ['--dry-run'], findEntry: workerEntry },
  { name: 'lambda', script: 'deploy-lambda.ts', args: ['--package'], findEntry: lambdaEntry },
]

await runScript(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'roost-startup-'))
  const slow: string[] = []
  try {
    const reference = await bundleReference(join(folder, 'reference.mjs'))
    for (const { name, script, args, findEntry } of clouds) {
      const out = join(folder, name)
      await runQuietly(join('src', 'cli', 'scripts', script), [...args, '--out', out])
      for (const surface of surfaceNames) {
        const { milliseconds, ratio } = await measureStartup(await findEntry(out, surface), reference)
        if (ratio > maxStartupRatio) slow.push(`${surface} on ${name}`)
        console.log(
          `${name.padEnd(8)}${surface.padEnd(12)}${milliseconds.toFixed(0).padStart(5)} ms of CPU time, ×${ratio.toFixed(1)}`,
        )
      }
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
  if (slow.length > 0) throw new OperationError(`More than ×${maxStartupRatio}: ${slow.join(', ')}.`)
})
